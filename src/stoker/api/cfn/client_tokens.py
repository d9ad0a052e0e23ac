"""Handles ClientRequestToken: a client that got no response repeats a request without effect."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping

from stoker.api.cfn.call import Call
from stoker.engine.model.stack_records.client_tokens import ClientToken
from stoker.kernel.addresses import StackAddress
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import VALUE_ERROR, RequestError, ValidationError

_NAMES = ("ClientRequestToken", "ClientToken")
_TOKEN = re.compile(r"[a-zA-Z0-9][-a-zA-Z0-9]{0,127}", re.ASCII)
# Parameters that differ in each signed request, with all that have the following prefix.
_OF_THIS_TIME = frozenset(
    {"AWSAccessKeyId", "Signature", "SignatureMethod", "SignatureVersion", "Timestamp"}
)
_SIGNED = "X-Amz-"


def client_token(parameters: Mapping[str, str]) -> ClientToken | None:
    """Return the token of a request, or None. Rejects a malformed one (400)."""
    name = next((name for name in _NAMES if parameters.get(name)), None)
    if name is None:
        return None
    text = parameters[name]
    if _TOKEN.fullmatch(text) is None:
        message = (
            f'{name} must have at most 128 letters, digits and "-", and begin with a letter or'
            f' digit; "{text:.150}" does not.'
        )
        raise ValidationError(message, VALUE_ERROR)
    items = sorted(
        (name, value)
        for name, value in parameters.items()
        if name not in _OF_THIS_TIME and not name.startswith(_SIGNED)
    )
    return ClientToken(text, hashlib.sha256(json.dumps(items).encode()).hexdigest())


async def once(call: Call, act: Callable[[], Awaitable[StackAddress]]) -> StackAddress:
    """Carry out a request unless it was recorded before; return its stack."""
    tokens = call.service.cloudformation.client_tokens
    before = await tokens.answered(call.caller)
    if before is not None:
        return before
    try:
        return await act()
    except (RequestError, DiagnosticError):
        # The same request may have been accepted in the meantime.
        before = await tokens.answered(call.caller)
        if before is None:
            raise
        return before
