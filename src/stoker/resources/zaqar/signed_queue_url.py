"""OS::Zaqar::SignedQueueURL: a signed permission for a queue.

Zaqar stores nothing, so there is nothing to find after a lost create.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.schema.properties import Attribute
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome
from stoker.schema.support import since

_QUEUES = KINDS["message", "queue"]


class ZaqarSignedQueueURL(ManagedType):
    """A signature for a queue."""

    type_name = "OS::Zaqar::SignedQueueURL"
    description = "A permission to use a queue without a token."
    service = "message"
    support = since("8.0.0")
    unique = True
    finds_own = True
    secrets = frozenset({"signature", "query_str"})

    properties = {
        "methods": declare.sequence(
            "Permitted HTTP methods.",
            items=declare.choice(["GET", "DELETE", "PATCH", "POST", "PUT"], "An HTTP method."),
        ),
        "paths": declare.sequence("Permitted parts of the queue, such as messages or claims."),
        "queue": declare.string("Name of the queue.", required=True),
        "ttl": declare.integer("Validity of the signature in seconds."),
    }
    attributes = {
        "expires": Attribute("Expiration time of the signature."),
        "methods": Attribute("Permitted HTTP methods."),
        "paths": Attribute("Permitted paths."),
        "project": Attribute("Id of the project."),
        "query_str": Attribute("All values as the query string of a URL."),
        "signature": Attribute("The signature."),
        "show": declare.SHOW,
    }

    def create(self, call: Call) -> Outcome:
        """Request the signature."""
        body = {name: call.properties[name] for name in ("methods", "paths")}
        body = {name: value for name, value in body.items() if value is not None}
        ttl = call.properties.get("ttl")
        if ttl is not None:
            end = datetime.fromtimestamp(call.now + ttl, UTC)
            body["expires"] = end.strftime("%Y-%m-%dT%H:%M:%S")
        path = _QUEUES.at(str(call.properties["queue"]), "/share")
        signed = _QUEUES.ask(call.cloud, "POST", path, json=body)
        return Done(call.physical_name, _attributes(signed), data={"signed": signed})

    def delete(self, call: Call) -> Outcome:
        """Return immediately: a signature cannot be revoked, and expires on its own."""
        return Done()

    def find(self, call: Call) -> str | None:
        """Return None, since Zaqar stores no signatures."""
        return None

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the signature and its scope."""
        signed = dict(call.data.get("signed") or {})
        return {**_attributes(signed), "show": signed}


def _attributes(signed: Mapping[str, Any]) -> dict[str, Any]:
    query = {
        "signature": signed["signature"],
        "expires": signed["expires"],
        "paths": ",".join(signed["paths"]),
        "methods": ",".join(signed["methods"]),
        "project_id": signed["project"],
    }
    names = ("expires", "methods", "paths", "project", "signature")
    return {**{name: signed[name] for name in names}, "query_str": urlencode(query)}
