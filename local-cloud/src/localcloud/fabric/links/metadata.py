"""The metadata service of a server, as at http://169.254.169.254/: OpenStack's and EC2's trees."""

import json
from typing import Any

from msgspec import Struct

from localcloud.fabric.interface import Server

_VERSIONS = (
    "2012-08-10", "2013-04-04", "2013-10-17", "2015-10-15", "2016-06-30", "2016-10-06",
    "2017-02-22", "2018-08-27", "2020-10-14", "latest",
)  # fmt: skip
_EC2_VERSIONS = (
    "1.0", "2007-01-19", "2007-03-01", "2007-08-29", "2007-10-10", "2007-12-15", "2008-02-01",
    "2008-09-01", "2009-04-04", "latest",
)  # fmt: skip
_TEXT = "text/plain; charset=UTF-8"
_JSON = "application/json"


class Answer(Struct, frozen=True):
    """An HTTP answer."""

    status: int
    body: bytes
    content_type: str = _TEXT


_NOT_FOUND = Answer(404, b"404 Not Found\n\nThe resource could not be found.\n")


def _listing(names: list[str]) -> Answer:
    return Answer(200, "\n".join(names).encode())


def _document(content: Any) -> Answer:
    return Answer(200, json.dumps(content).encode(), _JSON)


def _openstack(server: Server, parts: list[str]) -> Answer:
    if not parts:
        return _listing(list(_VERSIONS))
    if parts[0] not in _VERSIONS:
        return _NOT_FOUND
    documents: dict[str, Answer] = {"meta_data.json": _document(server.metadata)}
    if server.user_data is not None:
        documents["user_data"] = Answer(200, server.user_data, "application/octet-stream")
    documents["vendor_data.json"] = _document(server.vendor_data)
    documents["vendor_data2.json"] = _document({})
    documents["network_data.json"] = _document(server.network_data)
    if "password" not in documents:
        documents["password"] = Answer(200, b"")
    if len(parts) == 1:
        return _listing(list(documents))
    return documents.get(parts[1], _NOT_FOUND) if len(parts) == 2 else _NOT_FOUND


def _ec2_names(tree: dict[str, Any]) -> Answer:
    return _listing(
        [f"{name}/" if isinstance(value, dict) else name for name, value in tree.items()]
    )


def _ec2(server: Server, parts: list[str]) -> Answer:
    if not parts:
        names = ["meta-data/"]
        return _listing([*names, "user-data"] if server.user_data is not None else names)
    if parts[0] == "user-data" and len(parts) == 1 and server.user_data is not None:
        return Answer(200, server.user_data, "application/octet-stream")
    if parts[0] != "meta-data":
        return _NOT_FOUND
    value: Any = server.ec2_metadata
    for name in parts[1:]:
        if not isinstance(value, dict) or name not in value:
            return _NOT_FOUND
        value = value[name]
    if isinstance(value, dict):
        return _ec2_names(value)
    lines = value if isinstance(value, list | tuple) else [value]
    return Answer(200, "\n".join(str(line) for line in lines).encode())


def respond(server: Server, path: str) -> Answer:
    """The answer to a GET of ``path`` by this server."""
    parts = [part for part in path.partition("?")[0].split("/") if part]
    if not parts:
        return _listing([*_EC2_VERSIONS, "openstack"])
    if parts[0] == "openstack":
        return _openstack(server, parts[1:])
    if parts[0] in _EC2_VERSIONS:
        return _ec2(server, parts[1:])
    return _NOT_FOUND
