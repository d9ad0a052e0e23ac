"""Reading request bodies within bounds, and the addresses that requests are signed for."""

from __future__ import annotations

from starlette.requests import Request

from stoker.kernel.errors import LimitExceeded


async def read_body(request: Request, limit: int) -> bytes:
    """The body of a request; raises :class:`LimitExceeded` beyond ``limit`` bytes."""
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and _exceeds(declared.lstrip("0"), limit):
        raise LimitExceeded(f"The body has {declared:.20} bytes, the limit is {limit}.")
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise LimitExceeded(f"The body is larger than the limit of {limit} bytes.")
        chunks.append(chunk)
    return b"".join(chunks)


def _exceeds(digits: str, limit: int) -> bool:
    """Whether a number is larger; a header may have more digits than Python turns into one."""
    return len(digits) > len(str(limit)) or int(digits or "0") > limit
