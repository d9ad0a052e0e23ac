"""A stack of its own, made through an orchestration service: here, in another region or cloud.

The stack bears ``call.physical_name``, hence a lost create is found again by its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from stoker.clouds import remote_clouds
from stoker.clouds.collection import Collection, Object, send
from stoker.clouds.faults import (
    CloudError,
    UnreadableAnswerError,
    describe,
    gone_is_fine,
    status_of,
)
from stoker.resources.base import declare
from stoker.resources.base.rest import error_status, polling_pause, refusal
from stoker.schema.constraints import Custom
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, Wait
from stoker.schema.support import since

_STACKS = Collection("orchestration", "/stacks", "stack", "stacks")
MOST_DEPTH = 5
"""Levels of stacks that are made by stacks, as of nested ones."""
DEPTH = "stoker_stack_depth"
"""Default of a parameter that no template needs to have: the level of a stack."""
_SINCE_12 = since("12.0.0")
_FORBIDDEN = 403
_HAND_ON = (
    "a stack that makes stacks acts by a trust, which the identity service hands on only if"
    " allow_trusts_redelegation is set"
)


class RemoteStack(ManagedType):
    """A stack in the project of the stack that it is part of, or in another cloud."""

    type_name = "OS::Heat::Stack"
    description = (
        "A stack of its own, which the orchestration service of a region or of another cloud makes."
    )
    service = "orchestration"
    properties = {
        "context": declare.mapping(
            "Where to make the stack.",
            update_allowed=True,
            constraints=(Custom(remote_clouds.CONSTRAINT),),
            entries={
                "region_name": declare.string("Region of the stack."),
                "credential_secret_id": declare.string(
                    "Secret of the key manager with the credentials for another cloud, as JSON:"
                    ' {"auth_type": "v3applicationcredential", "auth": {"auth_url": ...}}.',
                    update_allowed=True,
                    support=_SINCE_12,
                ),
                "ca_cert": declare.string(
                    "Certificates to check those of the services against, as PEM.",
                    update_allowed=True,
                    support=_SINCE_12,
                ),
                "insecure": declare.boolean(
                    "Do not check the certificates of the services.",
                    default=False,
                    update_allowed=True,
                    support=_SINCE_12,
                ),
            },
        ),
        "template": declare.string("The template.", required=True, update_allowed=True),
        "timeout": declare.integer("Minutes that an action may take.", update_allowed=True),
        "parameters": declare.mapping("Parameters of the stack.", default={}, update_allowed=True),
    }
    attributes = {
        "stack_name": Attribute("Name of the stack.", Type.STRING),
        "outputs": Attribute("Outputs of the stack by name.", Type.MAP),
    }

    def made_from(self, properties: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
        """The template and the values of its parameters; None as long as it is not known."""
        template, given = properties.get("template"), properties.get("parameters")
        if not isinstance(template, str):
            return None
        return template, given if isinstance(given, Mapping) else {}

    def needs_replacement(self, call: Call) -> bool:
        """A stack does not move to another region."""
        return _region(call.properties) != _region(call.update.previous)

    def create(self, call: Call) -> Outcome:
        """Ask for the stack, then wait for it."""
        if call.physical_id is not None:
            return _judge(call, call.physical_id)
        if _depth(call) > MOST_DEPTH:
            return Failed(
                f"stacks made by stacks can be {MOST_DEPTH} levels deep, and this would be one"
                " more; a template must not make a stack of itself"
            )
        body = {"stack_name": call.physical_name, "disable_rollback": True, **_wanted(call)}
        try:
            made = send(_service(call), "POST", "/stacks", json=body)
        except CloudError as fault:
            if status_of(fault) == _FORBIDDEN and not _credentials(call):
                return Failed(f"{describe(fault)}; {_HAND_ON}")
            return refusal(fault)
        return Wait(after=0.1, physical_id=str(_STACKS.object_in(made)["id"]))

    def update(self, call: Call) -> Outcome:
        """Ask for the update once, then wait for it."""
        if call.progress.get("asked"):
            return _judge(call, call.object_id)
        path = _path(call, call.object_id)
        # an update is answered with a line of plain text
        with suppress(UnreadableAnswerError):
            send(_service(call), "PUT", path, json=_wanted(call))
        return Wait(after=0.1, progress={"asked": True})

    def delete(self, call: Call) -> Outcome:
        """Ask for the removal once, then wait until the stack is gone."""
        if call.physical_id is None:
            return Done()
        found = _stack(call, call.physical_id)
        if found is None or found["stack_status"] == "DELETE_COMPLETE":
            return Done()
        asked = bool(call.progress.get("asked"))
        if asked and found["stack_status"] == "DELETE_FAILED":
            return _failed(found)
        if not asked:
            with gone_is_fine():
                send(_service(call), "DELETE", _path(call, call.physical_id))
        return Wait(0.1 if not asked else polling_pause(call), progress={"asked": True})

    def suspend(self, call: Call) -> Outcome:
        """Have the stack suspended, then wait for that."""
        return _acted(call, "suspend")

    def resume(self, call: Call) -> Outcome:
        """Have the stack resumed, then wait for that."""
        return _acted(call, "resume")

    def check(self, call: Call) -> Outcome:
        """Return whether there is such a stack, and no action on it has failed."""
        found = None if call.physical_id is None else _stack(call, call.physical_id)
        if found is None:
            return Failed(f"the stack {call.physical_id} no longer exists")
        failed = str(found["stack_status"]).endswith("_FAILED")
        return _failed(found) if failed else Done()

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Return whether there is such a stack, and how long its actions may take."""
        found = _stack(call, call.object_id)
        if found is None or found["stack_status"] == "DELETE_COMPLETE":
            return None
        return {"timeout": found.get("timeout_mins")}

    def find(self, call: Call) -> str | None:
        """The stack with the name that a create gives it."""
        query = {"name": call.physical_name}
        listed = send(_service(call), "GET", "/stacks", params=query)
        return next((str(stack["id"]) for stack in listed.get("stacks") or ()), None)

    def read(self, call: Call) -> Mapping[str, Any]:
        """Name and outputs as they are now."""
        found = _stack(call, call.object_id)
        return {} if found is None else {**_attributes(found), "show": found}


def _depth(call: Call) -> int:
    """The level of the stack that a call makes: that of a stack made by a user is 0.

    It is handed on in the environment, which templates cannot change.
    """
    known = (call.inherited.environment.get("parameter_defaults") or {}).get(DEPTH, 0)
    return known + 1 if isinstance(known, int) else 1


def _wanted(call: Call) -> Object:
    environment = dict(call.inherited.environment)
    defaults = environment.get("parameter_defaults") or {}
    environment["parameter_defaults"] = {**defaults, DEPTH: _depth(call)}
    body: Object = {
        "template": call.properties["template"],
        "parameters": call.properties.get("parameters") or {},
        "environment": environment,
        "files": dict(call.inherited.files),
    }
    if call.properties.get("timeout") is not None:
        body["timeout_mins"] = call.properties["timeout"]
    return body


def _region(properties: Mapping[str, Any]) -> str | None:
    region: str | None = (properties.get("context") or {}).get("region_name")
    return region


def _credentials(call: Call) -> bool:
    """Return whether the stack is made with credentials of its own, and not by the trust."""
    return bool((call.properties.get("context") or {}).get("credential_secret_id"))


def _service(call: Call) -> Any:
    """The orchestration service that has the stack."""
    return remote_clouds.connection(call.cloud, call.properties.get("context")).orchestration


def _path(call: Call, physical_id: str) -> str:
    return f"/stacks/{quote(call.physical_name, safe='')}/{quote(physical_id, safe='')}"


def _stack(call: Call, physical_id: str) -> Object | None:
    """The stack, or None when there is none."""
    with gone_is_fine():
        return dict(send(_service(call), "GET", _path(call, physical_id))["stack"])
    return None


def _judge(call: Call, physical_id: str) -> Outcome:
    """Return the outcome of the action on the stack so far."""
    found = _stack(call, physical_id)
    if found is None:
        return Failed(f"the stack {physical_id} no longer exists")
    status = str(found["stack_status"])
    if status.endswith("_FAILED"):
        return _failed(found, physical_id)
    if status == f"{call.action}_COMPLETE":
        return Done(physical_id, _attributes(found))
    return Wait(polling_pause(call), physical_id, reason=f"stack is {status}")


def _acted(call: Call, action: str) -> Outcome:
    """Request an action once, unless it was the last one, then wait for it."""
    if call.progress.get("asked"):
        return _judge(call, call.object_id)
    done = _judge(call, call.object_id)
    if isinstance(done, Done):
        return done
    path = f"{_path(call, call.object_id)}/actions"
    # it is answered with null
    with suppress(UnreadableAnswerError):
        send(_service(call), "POST", path, json={action: None})
    return Wait(after=0.1, progress={"asked": True})


def _failed(found: Object, physical_id: str | None = None) -> Failed:
    return error_status("FAILED", str(found["stack_status_reason"]), physical_id)


def _attributes(found: Object) -> Object:
    listed = found.get("outputs") or ()
    outputs = {output["output_key"]: output.get("output_value") for output in listed}
    return {"stack_name": found["stack_name"], "outputs": outputs}
