"""Stacks that a resource has made through the orchestration service: seen in advance, given all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from tests.engine_world import Lab, template
from tests.simulation.types import Types
from tests.simulation.world import CALLER, World

from stoker.engine.model.requests import StackRequest
from stoker.kernel.diagnostics import DiagnosticError, Severity
from stoker.resources.base.registry import Registry
from stoker.resources.heat.stack import DEPTH, MOST_DEPTH, RemoteStack
from stoker.schema.resource_type import ResourceType
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Inputs

INNER = """
heat_template_version: 2018-08-31
parameters: {p: {type: string}}
resources: {a: {type: My::Thing}}
"""
ENVIRONMENT = {"resource_registry": {"My::Thing": "nested.yaml"}}
FILES = {"nested.yaml": "heat_template_version: 2018-08-31"}


def elsewhere(inner: Any, **properties: Any) -> dict[str, Any]:
    body = {"template": inner, **properties}
    return template({"s": {"type": "OS::Heat::Stack", "properties": body}})


class Orchestration:
    """A service that completes stacks immediately, and records its requests."""

    def __init__(self) -> None:
        self.asked: list[Mapping[str, Any]] = []
        self.refusal: dict[str, Any] | None = None

    def request(self, path: str, method: str, **more: Any) -> Any:
        if method in ("POST", "PUT"):
            self.asked.append(more["json"])
            if self.refusal is not None:
                return _answer(400, self.refusal)
        if method == "PUT":
            return SimpleNamespace(
                status_code=202, content=b"202 Accepted", json=lambda: json.loads("202 Accepted")
            )
        action = "UPDATE" if len(self.asked) > 1 else "CREATE"
        made = {"id": "id", "stack_name": "n", "stack_status": f"{action}_COMPLETE"}
        return _answer(200, {"stack": {**made, "stack_status_reason": "", "outputs": []}})


def _answer(status: int, body: Any) -> Any:
    text = json.dumps(body)
    return SimpleNamespace(
        status_code=status, content=text, text=text, headers={}, json=lambda: body
    )


class WithStacks(Types):
    """The simulation's types, and stacks."""

    def find(self, type_name: str) -> ResourceType | None:
        return RemoteStack() if type_name == "OS::Heat::Stack" else super().find(type_name)


def lived(service: Orchestration, story: Any) -> None:
    world = World(1, types=WithStacks())
    world.cloud.trouble = 0.0
    world.cloud.orchestration = service
    world.cloud.region = None
    world.live(lambda engine: story(Lab(engine, world)))


def test_files_and_environment_are_handed_on() -> None:
    service = Orchestration()

    async def story(lab: Lab) -> None:
        request: dict[str, Any] = {"environment": ENVIRONMENT, "files": FILES}
        await lab.create(elsewhere(INNER, parameters={"p": "1"}), **request)
        assert await lab.status() == "CREATE_COMPLETE", (await lab.stack()).reason
        await lab.update(elsewhere(INNER, parameters={"p": "2"}), **request)
        assert [given["parameters"] for given in service.asked] == [{"p": "1"}, {"p": "2"}]
        for given in service.asked:
            assert given["files"] == FILES
            assert given["environment"]["resource_registry"]["My::Thing"] == "nested.yaml"
            assert given["environment"]["parameters"] == {}

    lived(service, story)


@pytest.mark.parametrize("depth", [0, MOST_DEPTH - 1, MOST_DEPTH])
def test_remote_stack_passes_bounded_depth_on(depth: int) -> None:
    service = Orchestration()
    environment = {**ENVIRONMENT, "parameter_defaults": {DEPTH: depth} if depth else {}}

    async def story(lab: Lab) -> None:
        await lab.create(elsewhere(INNER), environment=environment, files=FILES)
        reason = (await lab.stack()).reason
        if depth == MOST_DEPTH:
            assert await lab.status() == "CREATE_FAILED"
            assert f"{MOST_DEPTH} levels deep" in reason
            assert not service.asked
        else:
            assert await lab.status() == "CREATE_COMPLETE", reason
            handed_on = service.asked[0]["environment"]["parameter_defaults"]
            assert handed_on == {DEPTH: depth + 1}

    lived(service, story)


def test_changed_file_updates_remote_stack() -> None:
    service = Orchestration()

    async def story(lab: Lab) -> None:
        wanted = elsewhere(INNER, parameters={"p": "1"})
        await lab.create(wanted, environment=ENVIRONMENT, files=FILES)
        changed = {"nested.yaml": FILES["nested.yaml"] + "\nresources: {}"}
        await lab.update(wanted, environment=ENVIRONMENT, files=changed)
        assert await lab.status() == "UPDATE_COMPLETE", (await lab.stack()).reason
        assert [given["files"] for given in service.asked] == [FILES, changed]

    lived(service, story)


def test_cause_of_remote_refusal_is_shown() -> None:
    service = Orchestration()
    error = {"type": "UserParameterMissing", "message": "p has no value"}
    service.refusal = {"code": 400, "title": "Bad Request", "explanation": "No.", "error": error}

    async def story(lab: Lab) -> None:
        await lab.create(elsewhere(INNER), environment=ENVIRONMENT, files=FILES)
        assert await lab.status() == "CREATE_FAILED"
        assert "p has no value" in (await lab.stack()).reason

    lived(service, story)


@pytest.mark.parametrize(
    "inner",
    [
        "heat_template_version: 2018-08-31\nresource: {}",
        "heat_template_version: 2018-08-31\nresources: {a: {type: Not::There}}",
        "not a template",
        "heat_template_version: 2018-08-31\nresources: {a: {type: Sim::Thing, depends_on: x}}",
    ],
)
def test_invalid_remote_template_is_refused_before_creation(inner: str) -> None:
    service = Orchestration()

    async def story(lab: Lab) -> None:
        body = StackRequest(name="stack", template=elsewhere(inner))
        with pytest.raises(DiagnosticError, match=r"resources\.s\.properties\.template"):
            await lab.engine.operations.create(CALLER, body)
        assert service.asked == []

    lived(service, story)


def test_recursive_remote_stack_is_validated_to_bounded_depth() -> None:
    inner = json.dumps(elsewhere({"get_file": "self.yaml"}))
    given = Inputs(files={"self.yaml": inner})
    evaluation = Evaluation(parse(elsewhere({"get_file": "self.yaml"})), given, Registry())
    assert [d for d in evaluation.validate() if d.severity is Severity.ERROR] == []
