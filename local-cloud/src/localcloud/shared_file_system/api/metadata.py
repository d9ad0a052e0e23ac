"""Metadata of shares, snapshots, subnets and the like: the same requests for each."""

from collections.abc import Callable

from localcloud.core.store import Collection, Document
from localcloud.shared_file_system.api import fields
from localcloud.shared_file_system.api.call import Call
from localcloud.shared_file_system.model.state import State, missing
from localcloud.web.api_request import Endpoint


def metadata_endpoints(
    path: str, collection: Callable[[State], Collection], first: int = 0
) -> tuple[Endpoint, ...]:
    """Return the requests on the metadata of the objects of one kind."""

    async def listed(call: Call, subject: Document) -> Document:
        return {"metadata": subject["metadata"]}

    async def add(call: Call, subject: Document) -> Document:
        given = _given(call)
        return _saved(call, subject, {**subject["metadata"], **given})

    async def replace(call: Call, subject: Document) -> Document:
        return _saved(call, subject, _given(call))

    async def show(call: Call, subject: Document) -> Document:
        key = _known(call, subject)
        return {"meta": {key: subject["metadata"][key]}}

    async def delete(call: Call, subject: Document) -> None:
        key = _known(call, subject)
        left = {name: value for name, value in subject["metadata"].items() if name != key}
        _saved(call, subject, left)

    def _saved(call: Call, subject: Document, metadata: dict[str, str]) -> Document:
        fields.metadata(metadata)
        call.state.change(collection(call.state), subject["id"], metadata=metadata)
        return {"metadata": metadata}

    one = f"{path}/metadata/{{key}}"
    return (
        Endpoint("GET", f"{path}/metadata", listed, first=first),
        Endpoint("POST", f"{path}/metadata", add, first=first),
        Endpoint("PUT", f"{path}/metadata", replace, first=first),
        Endpoint("GET", one, show, first=first),
        Endpoint("DELETE", one, delete, first=first, status=200),
    )


def _given(call: Call) -> dict[str, str]:
    body = call.body()
    return fields.metadata(body.get("metadata", ""))


def _known(call: Call, subject: Document) -> str:
    key = call.argument("key")
    if key not in subject["metadata"]:
        raise missing("MetadataItemNotFound: Metadata item is not found.")
    return key
