"""Stacks, resources, events and servers as the API gives them, as values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import asdict

from stoker.cli.client.client import Client, RefusedError, parsed

Value = TypeVar("Value")

ORCHESTRATION = "orchestration"
_AT_HOOK = re.compile(r"paused until Hook (\S+) is cleared")
SERVERS = ("OS::Nova::Server", "AWS::EC2::Instance")
DEEP = 20  # Levels of nested stacks to read, more than any service permits.
_PAGE = 500  # items of a list in one response


class Output(Struct, frozen=True):
    """An output of a stack."""

    name: str
    value: Any
    description: str
    error: str | None


class Stack(Struct, frozen=True):
    """A stack."""

    id: str
    name: str
    action: str
    status: str
    reason: str
    created: str
    updated: str | None
    outputs: tuple[Output, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Return the path below the service."""
        return f"/stacks/{self.name}/{self.id}"

    @property
    def state(self) -> str:
        """Return action and status as one word."""
        return f"{self.action}_{self.status}"


class Resource(Struct, frozen=True):
    """A resource of a stack, or of a stack below it."""

    name: str
    type_name: str
    physical_id: str
    action: str
    status: str
    reason: str
    stack_id: str
    stack_name: str
    nested_id: str | None
    required_by: tuple[str, ...]
    waiting_for: str | None
    updated: str
    nested: bool = False  # The stack is nested, and only its id is known.

    @property
    def hook(self) -> str | None:
        """The environment hook at which it is paused, or None."""
        found = _AT_HOOK.search(self.waiting_for or "")
        return found[1] if found else None

    @property
    def key(self) -> tuple[str, str]:
        """Return its unique key."""
        return self.stack_id, self.name

    @property
    def state(self) -> str:
        """Return action and status as one word."""
        return f"{self.action}_{self.status}"


class Event(Struct, frozen=True):
    """An event of a stack or a resource."""

    id: str
    time: str
    resource: str
    stack_id: str
    stack_name: str
    state: str
    reason: str
    physical_id: str

    @property
    def hook(self) -> str | None:
        """The environment hook at which the resource pauses from now on, or None."""
        found = _AT_HOOK.search(self.reason)
        return found[1] if found else None

    @property
    def is_of_stack(self) -> bool:
        """Return whether it is an event of a stack, and not of a resource with its name."""
        return (self.resource, self.physical_id) == (self.stack_name, self.stack_id)


class Server(Struct, frozen=True):
    """A server of the compute service."""

    id: str
    name: str
    status: str
    created: str
    key_name: str | None = None
    floating: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    # In the local cloud: port -> address on this machine. Otherwise None.
    forwarded: Mapping[int, tuple[str, int]] | None = None


def find_stack(client: Client, name: str, *, outputs: bool = True) -> Stack | None:
    """Return the stack of that name or id, or None; with its ``outputs``, which takes longer."""
    try:
        query = {"resolve_outputs": outputs}
        answer = client.get(ORCHESTRATION, f"/stacks/{quote(name)}", query)
    except RefusedError as refusal:
        if refusal.status == 404:
            return None
        raise
    return _parsed(_stack, answer, "stack")


def refresh(client: Client, stack: Stack, *, outputs: bool = False) -> Stack:
    """Return the current stack; also one that has been deleted."""
    query = {"resolve_outputs": outputs}
    return _parsed(_stack, client.get(ORCHESTRATION, stack.path, query), "stack")


def planned_resources(preview: Any, stack: Stack) -> list[Resource]:
    """Return the resources in a preview of a new stack, without those of nested stacks."""

    def parse(found: list[Any]) -> list[Resource]:
        return [
            Resource(
                name=item["resource_name"],
                type_name=item["resource_type"],
                physical_id="",
                action="INIT",
                status="COMPLETE",
                reason="",
                stack_id=stack.id,
                stack_name=stack.name,
                nested_id=None,
                required_by=tuple(item["required_by"]),
                waiting_for=None,
                updated="",
            )
            for item in found
            if not isinstance(item, list)
        ]

    return _parsed(parse, _parsed(dict, preview, "stack"), "resources")


def list_stacks(client: Client) -> list[Stack]:
    """Return all stacks of the project, newest first."""
    return _parsed(_each(_stack), client.get(ORCHESTRATION, "/stacks"), "stacks")


def stacks_by_page(client: Client, query: Mapping[str, Any]) -> Iterator[Stack]:
    """Yield the stacks that match a query, newest first, one page after another."""
    query = {"limit": _PAGE, **query}
    while True:
        page = _parsed(_each(_stack), client.get(ORCHESTRATION, "/stacks", query), "stacks")
        yield from page
        if len(page) < query["limit"]:
            return
        query["marker"] = page[-1].id


def output_names(client: Client, stack: Stack) -> list[str]:
    """Return the names of a stack's outputs, without computing the values."""
    answer = client.get(ORCHESTRATION, f"{stack.path}/outputs")
    return _parsed(_each(lambda found: str(found["output_key"])), answer, "outputs")


def exact_outputs(client: Client, stack: Stack) -> tuple[Output, ...]:
    """Return the outputs of a stack with all control characters."""
    return _parsed(_stack, client.get_exact(ORCHESTRATION, stack.path), "stack").outputs


def exact_output(client: Client, stack: Stack, name: str) -> Output | None:
    """Return an output with all control characters, or None. Others are not computed."""
    try:
        answer = client.get_exact(ORCHESTRATION, f"{stack.path}/outputs/{quote(name, safe='')}")
    except RefusedError as refusal:
        if refusal.status == 404:
            return None
        raise
    return _parsed(_output, answer, "output")


def resources_of(client: Client, stack: Stack, types: Sequence[str] = ()) -> list[Resource]:
    """Return the resources of a stack and of the stacks nested in it: all, or those of types."""
    query = {"nested_depth": DEEP, **({"type": types} if types else {})}
    answer = client.get(ORCHESTRATION, f"{stack.path}/resources", query)
    return _parsed(_each(_resource), answer, "resources")


def state_of(stack: Stack) -> dict[str, Any]:
    """Return a stack as ``--json`` prints it, without its outputs and resources."""
    return {
        "name": stack.name,
        "id": stack.id,
        "state": stack.state,
        "reason": stack.reason,
        "created": stack.created,
        "updated": stack.updated,
    }


def as_data(client: Client, stack: Stack) -> dict[str, Any]:
    """Return a stack with its outputs and resources, as ``--json`` prints it."""
    return {
        **state_of(stack),
        "outputs": {output.name: output.value for output in stack.outputs},
        "resources": [asdict(resource) for resource in resources_of(client, stack)],
    }


def events_by_page(
    client: Client, stack: Stack, *, newest_first: bool, precise: bool = False
) -> Iterator[Event]:
    """Yield the events of a stack and its nested stacks, one page after another.

    ``precise`` times have microseconds, if the service is Stoker.
    """
    direction = "desc" if newest_first else "asc"
    query: dict[str, Any] = {"nested_depth": DEEP, "sort_dir": direction, "limit": _PAGE}
    if precise:
        query["precise"] = True
    while True:
        answer = client.get(ORCHESTRATION, f"{stack.path}/events", query)
        page = _parsed(_each(_event), answer, "events")
        yield from page
        if len(page) < _PAGE:
            return
        query["marker"] = page[-1].id


def events_of(client: Client, stack: Stack, after: str | None = None) -> list[Event]:
    """Return the events of a stack and its nested stacks after an event, oldest first."""
    query: dict[str, Any] = {"nested_depth": DEEP, "sort_dir": "asc"}
    if after is not None:
        query["marker"] = after
    answer = client.get(ORCHESTRATION, f"{stack.path}/events", query)
    return _parsed(_each(_event), answer, "events")


def last_events(client: Client, stack: Stack, count: int) -> list[Event]:
    """Return the last events of a stack, oldest first."""
    query = {"nested_depth": DEEP, "limit": count}
    answer = client.get(ORCHESTRATION, f"{stack.path}/events", query)
    return _parsed(_each(_event), answer, "events")[::-1]


def last_event_id(client: Client, stack: Stack) -> str | None:
    """Return the id of the last event, for :func:`events_of`."""
    return next((event.id for event in last_events(client, stack, 1)), None)


def has_started(client: Client, stack: Stack, action: str, after: str | None) -> bool:
    """Return whether an action on a stack has started after an event."""
    happened = [e for e in events_of(client, stack, after) if e.stack_id == stack.id]
    return any((e.resource, e.state) == (stack.name, f"{action}_IN_PROGRESS") for e in happened)


def snapshots_of(client: Client, stack: Stack) -> list[Mapping[str, Any]]:
    """Return the snapshots of a stack, as the service shows them."""
    return _parsed(list, client.get(ORCHESTRATION, f"{stack.path}/snapshots"), "snapshots")


def servers(client: Client) -> list[Server]:
    """Return all servers of the project."""
    return _parsed(_each(_server), client.get("compute", "/servers/detail"), "servers")


def console_log(client: Client, server_id: str, lines: int | None = None) -> str:
    """Return the last lines of a server's console log, or all of it."""
    action: Mapping[str, Any] = {"os-getConsoleOutput": {} if lines is None else {"length": lines}}
    answer = client.call("compute", "POST", f"/servers/{server_id}/action", action)
    return _parsed(str, answer, "output")


def _parsed(parse: Callable[[Any], Value], answer: Any, key: str) -> Value:
    """Return the value of an answer under a key."""
    return parsed(lambda found: parse(found[key]), answer)


def _each(parse: Callable[[Any], Value]) -> Callable[[Any], list[Value]]:
    return lambda found: [parse(item) for item in found]


def _server(found: Mapping[str, Any]) -> Server:
    addresses = [each for net in (found.get("addresses") or {}).values() for each in net]
    by_kind: dict[str, list[str]] = {"floating": [], "fixed": []}
    for each in addresses:
        by_kind.setdefault(each.get("OS-EXT-IPS:type", "fixed"), []).append(each["addr"])
    forwardings = found.get("stoker:forwardings")
    return Server(
        id=found["id"],
        name=found["name"],
        status=found["status"],
        created=found["created"],
        key_name=found.get("key_name"),
        floating=tuple(by_kind["floating"]),
        fixed=tuple(by_kind["fixed"]),
        forwarded=None
        if forwardings is None
        else {each["server_port"]: (each["host"], each["port"]) for each in forwardings},
    )


def _stack(found: Mapping[str, Any]) -> Stack:
    action, _, status = found["stack_status"].partition("_")
    return Stack(
        id=found["id"],
        name=found["stack_name"],
        action=action,
        status=status,
        reason=found["stack_status_reason"] or "",
        created=found["creation_time"],
        updated=found["updated_time"],
        outputs=tuple(_output(each) for each in found.get("outputs") or ()),
        tags=tuple(found.get("tags") or ()),
    )


def _output(found: Mapping[str, Any]) -> Output:
    return Output(
        found["output_key"],
        found["output_value"],
        found.get("description") or "",
        found.get("output_error"),
    )


def _links(found: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return name and id of the linked stacks, by their relation."""
    places = {}
    for link in found["links"]:
        name, _, identity = link["href"].partition("/stacks/")[2].partition("/")
        places[link["rel"]] = (name, identity.partition("/")[0])
    return places


def _resource(found: Mapping[str, Any]) -> Resource:
    action, _, status = found["resource_status"].partition("_")
    links = _links(found)
    nested = links.get("nested")
    return Resource(
        name=found["resource_name"],
        type_name=found["resource_type"],
        physical_id=found["physical_resource_id"],
        action=action,
        status=status,
        reason=found["resource_status_reason"] or "",
        stack_id=links["stack"][1],
        stack_name=links["stack"][0],
        nested_id=nested[1] if nested else None,
        required_by=tuple(found.get("required_by") or ()),
        waiting_for=found.get("waiting_for"),
        updated=found["updated_time"],
        nested="parent_resource" in found,
    )


def _event(found: Mapping[str, Any]) -> Event:
    name, identity = _links(found)["stack"]
    return Event(
        id=found["id"],
        time=found["event_time"],
        resource=found["resource_name"],
        stack_id=identity,
        stack_name=name,
        state=found["resource_status"],
        reason=found["resource_status_reason"] or "",
        physical_id=found["physical_resource_id"] or "",
    )
