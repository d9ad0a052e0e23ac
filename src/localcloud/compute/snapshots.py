"""Images of servers."""

from localcloud.compute.tools import Tools
from localcloud.http import BadRequest, RequestContext
from localcloud.store import Document


async def start_snapshot(
    tools: Tools, context: RequestContext, server: Document, name: str, metadata: dict[str, str]
) -> str:
    """Refuse."""
    raise BadRequest("x")
