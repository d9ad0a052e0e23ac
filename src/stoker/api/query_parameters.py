"""The parameters of a request of the query protocol: those of its URL, and of a form."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.requests import Request

from stoker.api.interface import check_parameters
from stoker.api.ports import Compute
from stoker.kernel.errors import BAD_REQUEST, ValidationError

_FORM = "application/x-www-form-urlencoded"
_MOST = 1000
_FEW_BYTES = 16 * 1024  # bytes that are parsed on the event loop, within a millisecond


async def parameters_of(request: Request, body: bytes, compute: Compute) -> dict[str, str]:
    """Return all parameters by name. Raises RequestError (400) for a malformed form."""
    found = dict(request.query_params)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if body and kind == _FORM:
        try:
            form = _form(body) if len(body) <= _FEW_BYTES else await compute(lambda: _form(body))
            found.update(form)
        except UnicodeError:
            raise ValidationError(
                "The form contains bytes that are not ASCII.", BAD_REQUEST
            ) from None
        except ValueError:
            message = f"The form has more than {_MOST} parameters."
            raise ValidationError(message, BAD_REQUEST) from None
    check_parameters(found.items())
    return found


def _form(body: bytes) -> dict[str, str]:
    text = body.decode("ascii")
    return dict(
        parse_qsl(text, keep_blank_values=True, errors="surrogateescape", max_num_fields=_MOST)
    )
