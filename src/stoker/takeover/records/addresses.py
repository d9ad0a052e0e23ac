"""Addresses that Heat handed out, for types that show them as attributes.

A type computes its attributes from the data of its row and from addresses of the service. Here
these are the addresses of Heat, so that the values stay those that servers and alarms know.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from stoker.identity.signing import sign_url
from stoker.kernel.addresses import ResourceAddress, StackAddress
from stoker.kernel.errors import NOT_SUPPORTED, RequestError
from stoker.schema.resource_type import Call

# The order of the parameters in the query of a signed URL of Heat.
_ORDER = (
    "SignatureMethod", "SignatureVersion", "AWSAccessKeyId", "Timestamp", "Signature",
)  # fmt: skip


class HeatAddresses:
    """Shows addresses; refuses to create anything.

    Implements :class:`stoker.schema.resource_type.SignalCredentials`.
    """

    def __init__(self, cfn_url: str | None) -> None:
        """``cfn_url`` is the root of Heat's CloudFormation API, without a version."""
        self._cfn_url = cfn_url

    def signal_url(self, call: Call, project_id: str | None = None) -> str:
        """Return the URL in the REST API that accepts signals for the resource."""
        known = call.data.get("endpoint") or call.data.get("heat_signal_url")
        if known is None:
            raise _unknown(call)
        return str(known)

    def presigned_url(self, call: Call, path: str, *, never_expire: bool = False) -> str:
        """Return a URL of the CloudFormation API, signed with the key of the stack user."""
        if self._cfn_url is None or "access" not in call.data or not never_expire:
            raise _unknown(call)
        stack = StackAddress(call.stack.project_id, call.stack.name, call.stack.id)
        return in_order(
            sign_url(
                f"{self._cfn_url}/v1/{path}",
                ResourceAddress(stack, call.name).arn,
                path,
                access=call.data["access"],
                secret=call.data["secret"],
                timestamp=None,
            )
        )

    def token(self, call: Call) -> str:
        """Return the token of the resource's user that Heat has stored."""
        if "token" not in call.data:
            raise _unknown(call)
        return str(call.data["token"])

    def metadata_url(self, call: Call) -> str:
        """Return the URL of the CloudFormation API for metadata."""
        if self._cfn_url is None:
            raise _unknown(call)
        return f"{self._cfn_url}/v1/"

    watch_url = metadata_url

    def create_user(self, call: Call) -> Mapping[str, Any]:
        """Refuse: the take-over creates nothing."""
        raise _unknown(call)

    def delete_user(self, call: Call) -> None:
        """Refuse: the take-over deletes nothing."""
        raise _unknown(call)

    def create_keypair(self, call: Call, user_id: str) -> Mapping[str, Any]:
        """Refuse: the take-over creates nothing."""
        raise _unknown(call)

    def delete_keypair(self, call: Call, access: str) -> None:
        """Refuse: the take-over deletes nothing."""
        raise _unknown(call)

    def user_id(self, call: Call, username: str) -> str | None:
        """Refuse: the take-over looks for no users."""
        raise _unknown(call)


def in_order(url: str) -> str:
    """Return a signed URL with its parameters in Heat's order; the signature stays valid."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    ordered = {name: query[name] for name in _ORDER if name in query}
    return urlunsplit(parts._replace(query=urlencode(ordered, quote_via=quote, safe="")))


def _unknown(call: Call) -> RequestError:
    return RequestError(f"Heat has stored no address for {call.name}", NOT_SUPPORTED)
