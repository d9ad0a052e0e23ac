"""OS::Heat::Stack: a stack in another region or cloud, through its orchestration API.

The name of the stack is ``call.physical_name``, which ends with the intent token, so a create whose
response was lost is found by name. In contrast to a nested stack, the remote service runs the
operations; this type requests them once and polls for their end.

A template that creates its own stack again would never end. So each level passes its depth to the
next one in the environment, and stacks deeper than five levels are refused.

Tested by tests/environments and tests/resource_types_heat.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from stoker.clouds.faults import (
    CloudError,
    UnreadableAnswerError,
    describe,
    gone_is_fine,
    status_of,
)
from stoker.clouds.objects import remote_clouds
from stoker.clouds.objects.collection import Collection, Object, send
from stoker.resources.base import declare
from stoker.resources.base.rest import error_status, polling_pause, refusal
from stoker.schema.constraints import Custom
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, Wait
from stoker.schema.support import since

_STACKS = Collection("orchestration", "/stacks", "stack", "stacks")
MOST_DEPTH = 5  # levels of stacks that create stacks
DEPTH = "stoker_stack_depth"  # Name of the parameter default that holds the level of a stack.
_SINCE_12 = since("12.0.0")
_FORBIDDEN = 403
_HAND_ON = (
    "a stack that makes stacks acts by a trust, which the identity service hands on only if"
    " allow_trusts_redelegation is set"
)


class RemoteStack(ManagedType):
    """A stack in another region or cloud."""

    type_name = "OS::Heat::Stack"
    not_importable = "a stack moves by abandon and adopt"
    description = (
        "A separate stack, created by the orchestration service of a region or another cloud."
    )
    service = "orchestration"
    properties = {
        "context": declare.mapping(
            "Region or cloud of the stack.",
            update_allowed=True,
            constraints=(Custom(remote_clouds.CONSTRAINT),),
            entries={
                "region_name": declare.string("Region of the stack."),
                "credential_secret_id": declare.string(
                    "Secret in the key manager with credentials for another cloud, as JSON: "
                    '{"auth_type": "v3applicationcredential", "auth": {"auth_url": ...}}.',
                    update_allowed=True,
                    support=_SINCE_12,
                ),
                "ca_cert": declare.string(
                    "PEM certificates of the authorities to trust.",
                    update_allowed=True,
                    support=_SINCE_12,
                ),
                "insecure": declare.boolean(
                    "Skip the verification of certificates.",
                    default=False,
                    update_allowed=True,
                    support=_SINCE_12,
                ),
            },
        ),
        "template": declare.string("The template.", required=True, update_allowed=True),
        "timeout": declare.integer("Timeout of an action, in minutes.", update_allowed=True),
        "parameters": declare.mapping("Parameters of the stack.", default={}, update_allowed=True),
    }
    attributes = {
        "stack_name": Attribute("Name of the stack.", Type.STRING),
        "outputs": Attribute("Outputs of the stack by name.", Type.MAP),
    }

    def made_from(self, properties: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
        """Return the template and its parameters; None while the template is unknown."""
        template, parameters = properties.get("template"), properties.get("parameters")
        if not isinstance(template, str):
            return None
        return template, parameters if isinstance(parameters, Mapping) else {}

    def needs_replacement(self, call: Call) -> bool:
        """Return whether the region changes, since a stack cannot move."""
        return _region(call.properties) != _region(call.update.previous)

    def create(self, call: Call) -> Outcome:
        """Request the stack, then wait until it is complete."""
        if call.physical_id is not None:
            return _judge(call, call.physical_id)
        if _depth(call) > MOST_DEPTH:
            return Failed(
                f"stacks that create stacks can be {MOST_DEPTH} levels deep, and this would be one "
                "more; a template must not create its own stack"
            )
        body = {"stack_name": call.physical_name, "disable_rollback": True, **_desired(call)}
        try:
            response = send(_service(call), "POST", "/stacks", json=body)
        except CloudError as fault:
            if status_of(fault) == _FORBIDDEN and not _credentials(call):
                return Failed(f"{describe(fault)}; {_HAND_ON}")
            return refusal(fault)
        return Wait(after=0.1, physical_id=str(_STACKS.object_in(response)["id"]))

    def update(self, call: Call) -> Outcome:
        """Request the update once, then wait for its end."""
        if call.progress.get("asked"):
            return _judge(call, call.object_id)
        path = _path(call, call.object_id)
        # Heat answers an update with plain text instead of JSON.
        with suppress(UnreadableAnswerError):
            send(_service(call), "PUT", path, json=_desired(call))
        return Wait(after=0.1, progress={"asked": True})

    def delete(self, call: Call) -> Outcome:
        """Request the delete once, then wait until the stack is gone."""
        if call.physical_id is None:
            return Done()
        found = _stack(call, call.physical_id)
        if found is None or found["stack_status"] == "DELETE_COMPLETE":
            return Done()
        was_sent = bool(call.progress.get("asked"))
        if was_sent and found["stack_status"] == "DELETE_FAILED":
            return _failed(found)
        if not was_sent:
            with gone_is_fine():
                send(_service(call), "DELETE", _path(call, call.physical_id))
        return Wait(0.1 if not was_sent else polling_pause(call), progress={"asked": True})

    def suspend(self, call: Call) -> Outcome:
        """Request a suspend once, then wait for its end."""
        return _acted(call, "suspend")

    def resume(self, call: Call) -> Outcome:
        """Request a resume once, then wait for its end."""
        return _acted(call, "resume")

    def check(self, call: Call) -> Outcome:
        """Check that the stack exists, and that its last action did not fail."""
        found = None if call.physical_id is None else _stack(call, call.physical_id)
        if found is None:
            return Failed(f"the stack {call.physical_id} no longer exists")
        failed = str(found["stack_status"]).endswith("_FAILED")
        return _failed(found) if failed else Done()

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Return the properties of the live stack: only the timeout can be read back."""
        found = _stack(call, call.object_id)
        if found is None or found["stack_status"] == "DELETE_COMPLETE":
            return None
        return {"timeout": found.get("timeout_mins")}

    def find(self, call: Call) -> str | None:
        """Return the stack with the physical name, or None."""
        query = {"name": call.physical_name}
        listed = send(_service(call), "GET", "/stacks", params=query)
        return next((str(stack["id"]) for stack in listed.get("stacks") or ()), None)

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return name and outputs of the live stack."""
        found = _stack(call, call.object_id)
        return {} if found is None else {**_attributes(found), "show": found}


def _depth(call: Call) -> int:
    """Return the level of the new stack. A stack that a user created has level 0.

    The level is passed on in the environment, which templates cannot change.
    """
    known = (call.inherited.environment.get("parameter_defaults") or {}).get(DEPTH, 0)
    return known + 1 if isinstance(known, int) else 1


def _desired(call: Call) -> Object:
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
    """Return whether the properties name credentials, instead of using the trust."""
    return bool((call.properties.get("context") or {}).get("credential_secret_id"))


def _service(call: Call) -> Any:
    """Return the orchestration service that has the stack."""
    cloud = remote_clouds.connection(call.cloud, call.properties.get("context"))
    return cloud.service("orchestration")


def _path(call: Call, physical_id: str) -> str:
    return f"/stacks/{quote(call.physical_name, safe='')}/{quote(physical_id, safe='')}"


def _stack(call: Call, physical_id: str) -> Object | None:
    """Return the stack, or None if it does not exist."""
    with gone_is_fine():
        return dict(send(_service(call), "GET", _path(call, physical_id))["stack"])
    return None


def _judge(call: Call, physical_id: str) -> Outcome:
    """Return the outcome of the current action."""
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
    """Request an action, unless it was the last one already, then wait for its end."""
    if call.progress.get("asked"):
        return _judge(call, call.object_id)
    done = _judge(call, call.object_id)
    if isinstance(done, Done):
        return done
    path = f"{_path(call, call.object_id)}/actions"
    # Heat answers an action with null instead of an object.
    with suppress(UnreadableAnswerError):
        send(_service(call), "POST", path, json={action: None})
    return Wait(after=0.1, progress={"asked": True})


def _failed(found: Object, physical_id: str | None = None) -> Failed:
    return error_status("FAILED", str(found["stack_status_reason"]), physical_id)


def _attributes(found: Object) -> Object:
    listed = found.get("outputs") or ()
    outputs = {output["output_key"]: output.get("output_value") for output in listed}
    return {"stack_name": found["stack_name"], "outputs": outputs}
