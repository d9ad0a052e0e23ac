"""Reading request bodies within bounds, and the addresses that requests are signed for."""

from __future__ import annotations

from starlette.requests import Request

from stoker.kernel.errors import LimitExceeded


async def read_body(request: Request, limit: int) -> bytes:
    """The body of a request; raises :class:`LimitExceeded` beyond ``limit`` bytes."""
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        raise LimitExceeded(f"The body has {declared} bytes, the limit is {limit}.")
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise LimitExceeded(f"The body is larger than the limit of {limit} bytes.")
        chunks.append(chunk)
    return b"".join(chunks)
