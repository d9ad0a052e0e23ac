"""A deployment in a test, with the parts of the engine, a cloud and the store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

from stoker.kernel.values import replace
from stoker.resources.heat.software_deployment import SoftwareDeployment
from stoker.schema.resource_type import Call, Done, Failed, Outcome, Update, Wait
from stoker.schema.software import Deployment, SoftwareChange, SoftwareConfig
from tests.resource_types_heat.calls import RecordedSignalling, make_call

SCRIPT = "33333333-3333-3333-3333-333333333333"


class Answer:
    """An answer over HTTP."""

    def __init__(self, status: int, content: bytes = b"", **headers: str) -> None:
        self.status_code = status
        self.content = content
        self.headers = headers

    def json(self) -> Any:
        return json.loads(self.content)


@dataclass
class Cloud:
    """An object store, queues, and the ids of the servers that there are."""

    servers: set[str] = field(default_factory=lambda: {"srv"})
    objects: dict[str, bytes] = field(default_factory=dict)
    queues: dict[str, list[Any]] = field(default_factory=dict)
    keeps_versions: bool = True
    versioned: bool = False

    def write(self, path: str, content: bytes) -> None:
        """Store an object; a container is an object without content here."""
        before = self.objects.get(path)
        if before is not None and self.versioned and path.count("/") > 1:
            _, container, name = path.split("/")
            number = sum(1 for known in self.objects if known.startswith(f"/{container}/0"))
            self.objects[f"/{container}/{len(name):03x}{name}/{number:06}"] = before
        self.objects[path] = content

    def __post_init__(self) -> None:
        self.queue_users: set[str] = set()  # projects that have requested queues
        self.services = {
            "object-store": self._service("http://swift/v1/AUTH_p", self._store),
            "message": self._service("http://zaqar/v2", self._queue),
            "compute": self._service("http://nova/v2.1", self._server),
            "identity": self._service("http://keystone/v3", lambda *_: Answer(200)),
        }

    def service(self, service_type: str) -> Any:
        return self.services[service_type]

    def offers(self, service_type: str) -> bool:
        return service_type in self.services

    def _service(self, url: str, request: Any) -> Any:
        def asked(path: str, method: str, **more: Any) -> Answer:
            return request(unquote(path), method, more)

        return SimpleNamespace(get_endpoint=lambda: url, request=asked)

    def _server(self, path: str, method: str, more: Mapping[str, Any]) -> Answer:
        return Answer(200 if path.rpartition("/")[2] in self.servers else 404)

    def _store(self, path: str, method: str, more: Mapping[str, Any]) -> Answer:
        if path == "":
            return Answer(204, **{"X-Account-Meta-Temp-Url-Key": "key"})
        place, _, prefix = path.partition("?format=json&prefix=")
        if method == "GET" and prefix:
            start = f"{place}/{prefix}"
            names = [name.removeprefix(f"{place}/") for name in self.objects]
            found = [{"name": n} for n in sorted(names) if f"{place}/{n}".startswith(start)]
            return Answer(200, json.dumps(found).encode())
        if method == "PUT":
            self.write(path, more.get("data") or b"")
            return Answer(201)
        if method == "POST":
            self.versioned = self.keeps_versions and "X-Versions-Location" in more["headers"]
            return Answer(204 if self.keeps_versions else 501)
        if path not in self.objects:
            return Answer(404)
        if method == "DELETE":
            if any(other.startswith(f"{path}/") for other in self.objects):
                return Answer(409)
            del self.objects[path]
            return Answer(204)
        return Answer(200 if self.objects[path] else 416, self.objects[path])

    def _queue(self, path: str, method: str, more: Mapping[str, Any]) -> Answer:
        name = path.split("/")[2]
        self.queue_users.add(more["auth"].user_id)
        if method == "DELETE":
            return Answer(204 if self.queues.pop(name, None) is not None else 404)
        if method == "GET":
            return Answer(200, json.dumps({"messages": self.queues[name]}).encode())
        self.queues.setdefault(name, [])
        return Answer(201)


class Played:
    """A deployment resource from action to action."""

    def __init__(
        self, properties: Mapping[str, Any], type_: Any = None, cloud: Cloud | None = None
    ) -> None:
        self.type: SoftwareDeployment = type_ or SoftwareDeployment()
        self.cloud = cloud or Cloud()
        self.signalling = RecordedSignalling()
        self.configs = {SCRIPT: SoftwareConfig(SCRIPT, "project", 0.0, config="echo")}
        self.deployment: Deployment | None = None
        self.told: list[str] = []  # config ids in each publication to the server
        self.offered: list[str] = []  # all derived configs that were ever recorded
        given = {"server": "srv", "config": SCRIPT, **properties}
        self.call = make_call(self.type, given, signalling=self.signalling, cloud=self.cloud)

    def begin(self, action: str, at: float = 0.0, **changes: Any) -> Outcome:
        """Start an action, perhaps with changed properties, and continue until it waits or ends."""
        self.begin_only(action, at, **changes)
        return self.go_on()

    def begin_only(self, action: str, at: float = 0.0, **changes: Any) -> None:
        """Start an action without a call."""
        before = self.call.properties
        self.call = replace(
            self.call,
            action=action,
            progress={},
            started_at=100.0 + at,
            now=100.0 + at,
            properties={**before, **changes},
            update=Update(before, frozenset(changes)),
        )

    def go_on(self, lose: int = -1, *, recorded: bool = False) -> Outcome:
        """Call until it waits for the server or ends.

        The response of step ``lose`` gets lost, except for its records if that was ``recorded``.
        """
        for step in range(20):
            outcome = self._method()(self._seen())
            if step == lose:
                if recorded and not isinstance(outcome, Failed):
                    self._record(outcome.software, publish=False)
                continue
            if not isinstance(outcome, Failed):
                self._record(outcome.software, publish=True)
            self._keep(outcome)
            if not isinstance(outcome, Wait) or outcome.after > 0:
                return outcome
        raise AssertionError("it never ends")

    def report(self, **details: Any) -> str:
        """Report the server's result; return the event's reason."""
        told, reason = self.type.signalled(self._seen(), details)
        if told is not None:
            self.deployment = told
        return reason

    def inputs(self) -> dict[str, Any]:
        """The inputs that the server gets."""
        assert self.deployment is not None
        derived = self.configs[self.deployment.config_id]
        return {entry["name"]: entry["value"] for entry in derived.inputs}

    def _method(self) -> Any:
        return getattr(self.type, self.call.action.lower())

    def _seen(self) -> Call:
        return replace(self.call, configs=dict(self.configs), deployment=self.deployment)

    def _record(self, software: SoftwareChange, *, publish: bool) -> None:
        for config in software.configs:
            self.configs[config.id] = config
            self.offered.append(config.id)
        for deployment in software.deployments:
            self.deployment = deployment
        for dropped in software.dropped:
            if self.deployment is not None and self.deployment.id == dropped:
                self.deployment = None
        for dropped in software.dropped:
            if self.deployment is None or self.deployment.config_id != dropped:
                self.configs.pop(dropped, None)
        if publish:
            known = "" if self.deployment is None else self.deployment.config_id
            self.told += [known for _ in software.servers]

    def _keep(self, outcome: Outcome) -> None:
        kept: dict[str, Any] = {}
        for name in ("physical_id", "data", "progress"):
            if getattr(outcome, name, None) is not None:
                kept[name] = getattr(outcome, name)
        self.call = replace(self.call, **kept)


def is_waiting(outcome: Outcome) -> bool:
    """Return whether the server has to report now."""
    return isinstance(outcome, Wait) and outcome.on_signal


def is_done(outcome: Outcome) -> bool:
    """Return whether the action is complete."""
    return isinstance(outcome, Done)
