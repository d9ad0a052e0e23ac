"""Changes database instances: by actions, and by requests for databases and users."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from stoker.clouds.faults import gone_is_fine
from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import collection
from stoker.resources.base.rest import RestResource
from stoker.schema.resource_type import Call, Done, Outcome, Wait

INSTANCES = collection("database", "instance")
_STEP = "step"  # Key of the progress: number of steps that were sent.


def updated(type_: RestResource, call: Call) -> Outcome:
    """Send the next step; the update is done after the last one, when the instance is idle."""
    found = INSTANCES.get(call.cloud, call.object_id)
    outcome = type_.judge(call, found)
    if not isinstance(outcome, Done):
        return outcome
    steps = [step for name, step in _STEPS.items() if name in call.update.changed]
    sent = int(call.progress.get(_STEP, 0))
    if sent == len(steps):
        return outcome
    steps[sent](call)
    return Wait(after=0.1, progress={_STEP: sent + 1})


def _rename(call: Call) -> None:
    name = call.properties.get("name") or call.physical_name
    path = INSTANCES.at(call.object_id)
    INSTANCES.ask(call.cloud, "PATCH", path, json={"instance": {"name": name}})


def _act(call: Call, body: Object) -> None:
    path = INSTANCES.at(call.object_id, "/action")
    INSTANCES.ask(call.cloud, "POST", path, json={"resize": body})


def _change_flavor(call: Call) -> None:
    _act(call, {"flavorRef": call.properties["flavor"]})


def _grow(call: Call) -> None:
    _act(call, {"volume": {"size": call.properties["size"]}})


def databases_of(call: Call) -> list[Mapping[str, Any]]:
    """Return the databases of the property that exist."""
    present = {each["name"] for each in _listed(call, "databases")}
    return [each for each in call.properties.get("databases") or () if each["name"] in present]


def users_of(call: Call) -> list[Mapping[str, Any]]:
    """Return the users of the property that exist."""
    present = {each["name"] for each in _listed(call, "users")}
    return [each for each in call.properties.get("users") or () if each["name"] in present]


def set_databases(call: Call) -> None:
    """Delete unwanted databases, and create missing ones."""
    _set(call, "databases", lambda each: dict(each))


def set_users(call: Call) -> None:
    """Delete unwanted and changed users, and create missing ones."""
    _set(call, "users", _user)


def _user(entry: Mapping[str, Any]) -> Object:
    names = [{"name": name} for name in entry["databases"]]
    return {**{k: v for k, v in entry.items() if v is not None}, "databases": names}


def _listed(call: Call, kind: str) -> list[Object]:
    path = INSTANCES.at(call.object_id, f"/{kind}")
    return list(INSTANCES.ask(call.cloud, "GET", path).get(kind) or [])


def _set(call: Call, kind: str, body: Any) -> None:
    path = INSTANCES.at(call.object_id, f"/{kind}")
    desired = {each["name"]: each for each in call.properties.get(kind) or ()}
    before = {each["name"]: each for each in call.update.previous.get(kind) or ()}
    present = {each["name"] for each in _listed(call, kind)}
    for name, entry in before.items():
        if name in present and desired.get(name) != entry:
            with gone_is_fine():
                INSTANCES.ask(call.cloud, "DELETE", f"{path}/{quote(name, safe='')}")
            present.discard(name)
    new = [body(entry) for name, entry in desired.items() if name not in present]
    if new:
        INSTANCES.ask(call.cloud, "POST", path, json={kind: new})


_STEPS = {
    "name": _rename,
    "flavor": _change_flavor,
    "size": _grow,
    "databases": set_databases,
    "users": set_users,
}
