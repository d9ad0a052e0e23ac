"""Redirecting from a stack's name, id or ARN to its full address.

The answer is 302 for every method; clients repeat the request, with the same method, there.
"""

from __future__ import annotations

from starlette.responses import Response

from stoker.api.rest.answers import page
from stoker.api.rest.call import Call


async def lookup(call: Call, below: str = "") -> Response:
    """Redirect to the stack, or to the part of it that ``below`` names (as ``/resources``)."""
    stack = await call.service.operations.find(call.caller, call.path["stack_name"])
    location = call.links.stack(stack, below)
    if str(call.query):
        location = f"{location}?{call.query}"
    return page(302, f"The stack is at {location}", {"Location": location})
