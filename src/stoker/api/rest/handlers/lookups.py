"""Redirects from a stack's name, id or ARN to its full address.

The response is 302 for every method; clients repeat the request there, with the same method.
"""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import Response

from stoker.api.rest.answers import page
from stoker.api.rest.call import Call


async def lookup(call: Call) -> Response:
    """Redirect to the stack, or to the part of it in the rest of the path."""
    stack = await call.service.operations.find(call.caller, call.path["stack_name"])
    below = call.path.get("below", "")
    location = call.links.stack(stack, f"/{quote(below, safe='/~')}" if below else "")
    if str(call.query):
        location = f"{location}?{call.query}"
    return page(302, f"The stack is at {location}", {"Location": location})
