"""OS::Heat::SoftwareDeployment: applies a configuration on a server and waits for the result.

For each action in ``actions``, a derived configuration is stored: the configuration with values of
its inputs, and with the address for the report. The server polls for it, applies it, and reports
the outputs through the chosen transport. The deployment then completes or fails.

Every step is safe to repeat. The id of the derived configuration is a digest of its content, the
action and its start. So a repeated call stores the same deployment, not a second one.

Tested by tests/software.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from stoker.kernel.diagnostics import Diagnostic
from stoker.kernel.values import replace
from stoker.resources.base import declare
from stoker.resources.heat.configs import COMPONENT, UNGROUPED
from stoker.resources.heat.deployment_inputs import derived_inputs, replacing_inputs
from stoker.resources.heat.deployment_outputs import (
    COMPLETE,
    FAILED,
    IN_PROGRESS,
    attributes_of,
    with_outputs,
)
from stoker.resources.heat.deployment_signals import NO_SIGNAL, TRANSPORTS, Transport
from stoker.schema.constraints import AllowedValues
from stoker.schema.properties import Attribute, OpenAttributes, Property, Type
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, Wait
from stoker.schema.software import (
    Deployment,
    Entry,
    SoftwareChange,
    SoftwareConfig,
    server_fault,
)
from stoker.schema.support import since

_POLL_SECONDS = 5.0  # poll interval for objects and queues
_SIGNAL_POLL_SECONDS = 600.0  # poll interval if the server sends signals
# Keys of the progress: the id of the configuration that the server was given; and for a delete: no
# action is left to apply, and the deployment was withdrawn from the server.
_OFFERED, _APPLIED, _DROPPED = "offered", "applied", "dropped"
# Key of the data: value and default of inputs whose change replaces the deployment.
REPLACING = "replacing_inputs"

CONFIG = declare.string("Id of the configuration.", update_allowed=True)
INPUT_VALUES = declare.mapping("Values of the inputs, by their names.", update_allowed=True)
ACTIONS = declare.sequence(
    "Actions of the stack in which the configuration is applied.",
    default=["CREATE", "UPDATE"],
    update_allowed=True,
    constraints=(AllowedValues(["CREATE", "UPDATE", "DELETE", "SUSPEND", "RESUME"]),),
)
NAME = declare.string(
    "Name of the deployment; a server applies its deployments in the order of their names.",
    update_allowed=True,
)
SIGNAL_TRANSPORT = declare.choice(
    list(TRANSPORTS), "Transport of the server's report.", default="CFN_SIGNAL"
)
SERVER = declare.string("Id of the server.", required=True)
# Properties of groups of deployments, too.
COMMON: Mapping[str, Property] = {
    "config": CONFIG,
    "input_values": INPUT_VALUES,
    "actions": ACTIONS,
    "name": NAME,
    "signal_transport": SIGNAL_TRANSPORT,
}


class SoftwareDeployment(ManagedType):
    """A configuration on a server."""

    type_name = "OS::Heat::SoftwareDeployment"
    description = "Applies a configuration on a server and waits for the result."
    support = since("2014.1")
    service = "identity"
    names_software = frozenset({"config"})
    keeps_software = True
    secrets = frozenset({"password", "secret", "signal_url"})
    properties = {"server": SERVER, **COMMON}
    attributes = OpenAttributes(
        deploy_stdout=Attribute("Standard output of the configuration.", Type.STRING),
        deploy_stderr=Attribute("Standard error of the configuration.", Type.STRING),
        deploy_status_code=Attribute("Exit status of the configuration.", Type.STRING),
    )

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that the value can be the id of a server."""
        server = properties.get("server")
        fault = server_fault(server) if isinstance(server, str) else None
        return [Diagnostic("bad-server", fault, ("server",))] if fault else []

    def create(self, call: Call) -> Outcome:
        """Apply the configuration if ``actions`` has CREATE."""
        return self._act(call)

    def update(self, call: Call) -> Outcome:
        """Apply the configuration if ``actions`` has UPDATE."""
        return self._act(call)

    def suspend(self, call: Call) -> Outcome:
        """Apply the configuration if ``actions`` has SUSPEND."""
        return self._act(call)

    def resume(self, call: Call) -> Outcome:
        """Apply the configuration if ``actions`` has RESUME."""
        return self._act(call)

    def delete(self, call: Call) -> Outcome:
        """Apply the configuration if ``actions`` has DELETE; then delete deployment and objects."""
        if call.physical_id is not None and _APPLIED not in call.progress:
            # If the configuration was deleted there is nothing to apply; still delete the rest.
            config = self._config_of(call)
            if (
                config is not None
                and call.action in _actions(call, config)
                and self.has_server(call)
            ):
                outcome = self._act(call)
                if not isinstance(outcome, Done):
                    return outcome
            return Wait(after=0.0, progress={_APPLIED: True})
        if _DROPPED not in call.progress:
            known = call.deployment
            ids = (_own_id(call),) if known is None else (known.id, known.config_id)
            server = str(call.properties["server"])
            dropped = SoftwareChange(dropped=ids, servers=(server,))
            return Wait(after=0.0, progress={_APPLIED: True, _DROPPED: True}, software=dropped)
        self.transport(call).remove(call)
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the values of the outputs."""
        return attributes_of(call.deployment)

    def needs_replacement(self, call: Call) -> bool:
        """Return whether an input changed that is declared with ``replace_on_change``."""
        values = call.properties.get("input_values")
        if "input_values" not in call.update.changed or not isinstance(values, Mapping | None):
            return False
        return any(
            (values or {}).get(name, known["default"]) != known["value"]
            for name, known in call.data.get(REPLACING, {}).items()
        )

    def signalled(self, call: Call, details: Mapping[str, Any]) -> tuple[Deployment | None, str]:
        """Return the deployment with the reported outputs, and the reason of the signal's event."""
        known = call.deployment
        if known is None or known.status != IN_PROGRESS:
            return None, "Signal ignored: no deployment is in progress"
        updated = with_outputs(known, _outputs(call), details, call.now)
        if updated.status == COMPLETE:
            return updated, f"Signal: deployment {known.id} succeeded"
        code = details.get("deploy_status_code")
        return updated, f"Signal: deployment {known.id} failed ({code})"

    def derived(self, call: Call, config: SoftwareConfig, inputs: Sequence[Entry]) -> Any:
        """Return the content of the derived configuration."""
        return config.config

    def empty(self) -> Any:
        """Return the content of a deployment without a configuration."""
        return ""

    def transport(self, call: Call) -> Transport:
        """Return the transport of the server's reports."""
        return TRANSPORTS[call.properties["signal_transport"]]

    def has_server(self, call: Call) -> bool:
        """Return whether the server exists. A deleted server would never report."""
        server = call.cloud.service("compute").request(
            f"/servers/{call.properties['server']}", "GET"
        )
        return bool(server.status_code != HTTPStatus.NOT_FOUND)

    def _act(self, call: Call) -> Outcome:
        if fault := server_fault(str(call.properties["server"])):
            return Failed(fault, kind="Invalid")
        config = self._config_of(call)
        if config is None:
            missing = f"Software config with id {call.properties['config']} not found"
            return Failed(missing, kind="NotFound")
        values = call.properties["input_values"] or {}
        data = {**call.data, REPLACING: replacing_inputs(config.inputs, values)}
        done = Done(_own_id(call), attributes_of(call.deployment), data)
        if call.action not in _actions(call, config):
            return done
        transport = self.transport(call)
        if not call.data.get("prepared"):
            prepared = {**transport.prepare(call), "prepared": True}
            return Wait(after=0.0, data={**call.data, **prepared})
        derived = self._derive(call, config, transport)
        known = call.deployment
        if known is None or known.config_id != derived.id or _OFFERED not in call.progress:
            return _offer(call, derived, transport)
        if known.status == COMPLETE:
            return done
        if known.status == FAILED:
            return Failed(
                f"Deployment to server failed: {known.reason}",
                _own_id(call),
                kind="Error",
                attributes=attributes_of(known),
            )
        report = transport.collect(call)
        if report is not None:
            updated = with_outputs(known, derived.outputs, report, call.now)
            return Wait(after=0.0, software=SoftwareChange(deployments=(updated,)))
        reason = f"waiting for a report of the server {known.server_id}"
        after = _POLL_SECONDS if transport.is_polled else _SIGNAL_POLL_SECONDS
        return Wait(after, _own_id(call), on_signal=True, reason=reason)

    def _config_of(self, call: Call) -> SoftwareConfig | None:
        """Return the configuration to apply; None if it was deleted."""
        config_id = call.properties.get("config")
        if config_id:
            return call.configs.get(config_id)
        now = call.started_at
        return SoftwareConfig("", call.stack.project_id, now, None, UNGROUPED, self.empty())

    def _derive(self, call: Call, config: SoftwareConfig, transport: Transport) -> SoftwareConfig:
        """Return the derived configuration, with its own id for each action."""
        values = call.properties["input_values"] or {}
        inputs = derived_inputs(call, config.inputs, values, transport.inputs(call))
        derived = replace(
            config,
            id="",
            created_at=call.started_at,
            name=call.properties["name"] or call.physical_name,
            group=config.group or UNGROUPED,
            config=self.derived(call, config, inputs),
            inputs=inputs,
        )
        content = json.dumps(derived.as_metadata(), sort_keys=True, default=str)
        digest = hashlib.sha256(f"{call.action} {call.started_at!r} {content}".encode())
        config_id = uuid.uuid5(uuid.UUID(call.resource_id), digest.hexdigest())
        return replace(derived, id=str(config_id))


def _offer(call: Call, derived: SoftwareConfig, transport: Transport) -> Wait:
    """Store the deployment and notify the server. Safe to repeat."""
    known, server = call.deployment, str(call.properties["server"])
    offered = {_OFFERED: derived.id}
    if known is not None and known.config_id == derived.id:
        change = SoftwareChange(servers=(server,))
        return Wait(after=0.0, progress=offered, software=change)
    transport.clear(call)
    is_silent = call.properties["signal_transport"] == NO_SIGNAL
    deployment = Deployment(
        id=_own_id(call),
        project_id=call.stack.project_id,
        created_at=call.started_at if known is None else known.created_at,
        config_id=derived.id,
        server_id=server,
        stack_id=call.stack.id,
        action=call.action,
        status=COMPLETE if is_silent else IN_PROGRESS,
        reason="Not waiting for outputs signal" if is_silent else "Deploy data available",
        input_values=call.properties["input_values"] or {},
        output_values=None if known is None else known.output_values,
        updated_at=None if known is None else call.now,
    )
    earlier = () if known is None else (known.config_id,)
    software = SoftwareChange((derived,), (deployment,), earlier, (server,))
    return Wait(after=0.0, physical_id=_own_id(call), progress=offered, software=software)


def _own_id(call: Call) -> str:
    """Return the id of the deployment: that of the resource, unless Heat gave it another one."""
    return call.physical_id or call.resource_id


def _outputs(call: Call) -> Sequence[Entry]:
    """Return the outputs of the configuration that the server was given."""
    assert call.deployment is not None
    derived = call.configs.get(call.deployment.config_id)
    return () if derived is None else derived.outputs


def _actions(call: Call, config: SoftwareConfig) -> frozenset[str]:
    """Return the actions in which the configuration is applied. Components name their own."""
    if config.group != COMPONENT:
        return frozenset(call.properties["actions"])
    parts = config.config.get("configs", ()) if isinstance(config.config, Mapping) else ()
    return frozenset(action for part in parts for action in part.get("actions", ()))
