"""Requests: reasons to refuse them, values that they may omit, and the contents of previews."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.types import Types
from tests.simulation.world import CALLER, Clouds, World

from stoker.engine.model.records import Stack
from stoker.engine.model.requests import Caller, Page, ResourceQuery, StackQuery, StackRequest
from stoker.engine.service.stack_access.lookup import Finder
from stoker.engine.service.views.queries import Queries
from stoker.kernel.addresses import StackAddress
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import AlreadyExistsError, ForbiddenError, RequestError
from stoker.kernel.ids import RandomIds
from stoker.kernel.values import replace
from stoker.resources.base.heat_catalog import declared
from stoker.schema.resource_type import ResourceType

PLAIN = template({"a": thing(value="one")}, outputs={"o": {"value": {"get_attr": ["a", "id"]}}})
NONE = template({})
ASKING = template(
    {"a": thing(value={"get_param": "value"})},
    parameters={"value": {"type": "string", "default": "one"}},
)


class AdminsOnly:
    """Denies all callers the use of simulated types."""

    def allows(self, rule: str, caller: Caller) -> bool:
        return rule != "resource_types:Sim::Thing"


def test_forbidden_types_are_refused() -> None:
    async def story(lab: Lab) -> None:
        operations = lab.unheard(policy=AdminsOnly())
        with pytest.raises(ForbiddenError, match="Sim::Thing"):
            await operations.create(CALLER, StackRequest(name="stack", template=PLAIN))
        assert await lab.engine.ports.store.find_stack(CALLER.project_id, "stack") is None

    in_lab(story)


class Undeployable(Types):
    """Simulated things are declared, and that is all."""

    def find(self, type_name: str) -> ResourceType | None:
        return declared("OS::Heat::Value") if type_name == "Sim::Thing" else super().find(type_name)


def test_undeployable_type_is_refused_with_its_position() -> None:
    world = World(1, types=Undeployable())

    async def story(lab: Lab) -> None:
        wanted = template({"a": thing(value="x")})
        with pytest.raises(DiagnosticError, match="cannot be deployed by this release") as refused:
            await lab.engine.operations.create(CALLER, StackRequest(name="stack", template=wanted))
        assert refused.value.first.error_type.name == "ResourceTypeUnavailable"
        assert refused.value.first.path == ("resources", "a", "type")
        assert await lab.engine.ports.store.find_stack(CALLER.project_id, "stack") is None

    world.live(lambda engine: story(Lab(engine, world)))


class Bare(Clouds):
    """Has nothing."""

    def lacking(
        self, stack: Stack, dependencies: Sequence[tuple[str, str]]
    ) -> Sequence[str | None]:
        return [f"There is no {service}." for service, _ in dependencies]


def test_type_of_absent_service_is_refused_with_position() -> None:
    async def story(lab: Lab) -> None:
        operations = lab.unheard(clouds=Bare(lab.world, lab.engine.ports.lease))
        with pytest.raises(DiagnosticError) as refused:
            await operations.create(CALLER, StackRequest(name="stack", template=PLAIN))
        first = refused.value.first
        assert first.message == (
            "Service sim is not available for resource type Sim::Thing, reason: There is no sim."
        )
        assert (first.path, first.error_type.name) == (
            ("resources", "a", "type"),
            "ResourceTypeUnavailable",
        )
        assert await lab.engine.ports.store.find_stack(CALLER.project_id, "stack") is None

    in_lab(story)


def test_preview_shows_resources_and_outputs_without_recording() -> None:
    async def story(lab: Lab) -> None:
        request = StackRequest(name="stack", template=PLAIN)
        made = await lab.engine.service.previews.create(CALLER, request)
        stack, resources = made.stack, made.resources
        assert [resource.name for resource in resources] == ["a"]
        assert stack.parameters["OS::stack_id"] == "None"
        assert stack.outputs is not None
        assert [output.name for output in stack.outputs] == ["o"]
        assert await lab.engine.ports.store.find_stack(CALLER.project_id, "stack") is None

    in_lab(story)


@pytest.mark.parametrize("name", ["", "1st", "a b", "x" * 256])
def test_preview_refuses_invalid_names(name: str) -> None:
    async def story(lab: Lab) -> None:
        request = StackRequest(name=name, template=PLAIN)
        with pytest.raises(DiagnosticError) as refused:
            await lab.engine.service.previews.create(CALLER, request)
        assert refused.value.first.error_type.name == "StackValidationFailed"

    in_lab(story)


def test_preview_refuses_name_of_existing_stack() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(PLAIN)
        request = StackRequest(name="stack", template=PLAIN)
        with pytest.raises(AlreadyExistsError):
            await lab.engine.service.previews.create(CALLER, request)

    in_lab(story)


def test_request_without_name_is_refused() -> None:
    async def story(lab: Lab) -> None:
        with pytest.raises(RequestError) as refused:
            await lab.engine.operations.create(CALLER, StackRequest(template=PLAIN))
        assert refused.value.error_type.name == "HTTPBadRequest"

    in_lab(story)


def test_update_with_existing_accepts_unused_parameters() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(ASKING)
        address = await lab.engine.operations.find(CALLER, "stack")
        request = StackRequest(parameters={"value": "two", "other": 1}, existing=True)
        await lab.engine.operations.update(CALLER, address, request)
        await lab.engine.dispatch.idle()
        assert await lab.status() == "UPDATE_COMPLETE"
        assert (await lab.rows())["a"].properties["value"] == "two"

    in_lab(story)


class LetterFirst(RandomIds):
    """Ids that are valid names of stacks, as those of earlier releases and of Heat may be."""

    def uuid(self) -> str:
        return f"f{super().uuid()[1:]}"


def test_stack_id_takes_precedence_over_equal_name() -> None:
    async def story(lab: Lab) -> None:
        operations = lab.unheard(ids=LetterFirst())
        stranger = replace(CALLER, project_id="elsewhere")

        async def made(caller: Caller, name: str) -> StackAddress:
            return await operations.create(caller, StackRequest(name=name, template=NONE))

        first = await made(CALLER, "first")
        for caller in (CALLER, stranger):
            namesake = await made(caller, first.id)
            meant = first if caller is CALLER else namesake
            assert await operations.find(caller, first.id) == meant
            assert await operations.find(caller, namesake.id) == namesake

    in_lab(story)


def test_new_environment_value_replaces_former_value() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(ASKING, parameters={"value": "given"})
        address = await lab.engine.operations.find(CALLER, "stack")
        for more, value in (
            ({}, "given"),
            ({"environment": {"parameters": {"value": "newer"}}}, "newer"),
            ({"environment": {"parameter_defaults": {"value": "default"}}}, "newer"),
            (
                {"environment": {"parameters": {"value": "no"}}, "parameters": {"value": "newest"}},
                "newest",
            ),
        ):
            request = StackRequest(existing=True, **more)
            await lab.engine.operations.update(CALLER, address, request)
            await lab.engine.dispatch.idle()
            assert (await lab.rows())["a"].properties["value"] == value

    in_lab(story)


def test_full_update_refuses_unused_parameters() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(ASKING)
        address = await lab.engine.operations.find(CALLER, "stack")
        request = StackRequest(template=ASKING, parameters={"other": 1})
        with pytest.raises(DiagnosticError) as refused:
            await lab.engine.operations.update(CALLER, address, request)
        assert refused.value.first.error_type.name == "UnknownUserParameter"

    in_lab(story)


def test_list_with_unknown_marker_is_complete() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(PLAIN)
        query = StackQuery(page=Page(marker="nothing"))
        found = await Queries(lab.engine.ports, Finder(lab.engine.ports)).stacks(CALLER, query)
        assert [stack.address.name for stack in found] == ["stack"]

    in_lab(story)


def test_resource_list_has_attributes_on_request() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(PLAIN)
        views = Queries(lab.engine.ports, Finder(lab.engine.ports))
        (bare,) = await views.resources(CALLER, address, ResourceQuery())
        (full,) = await views.resources(CALLER, address, ResourceQuery(with_attributes=True))
        assert bare.attributes is None
        assert full.attributes is not None
        assert full.attributes["id"] == full.physical_id

    in_lab(story)


def test_event_reports_restricted_action() -> None:
    async def story(lab: Lab) -> None:
        fixed = {"resource_registry": {"resources": {"a": {"restricted_actions": "update"}}}}
        await lab.create(ASKING, environment=fixed)
        await lab.update(ASKING, environment=fixed, parameters={"value": "two"})
        reasons = [event.reason for event in await lab.events()]
        assert reasons.count("update is restricted for resource.") == 1
        assert (await lab.stack()).reason.startswith(
            "Resource UPDATE failed: ResourceActionRestricted: resources.a:"
            " update is restricted for resource."
        )

    in_lab(story)


@pytest.mark.parametrize(
    ("changed", "status", "value"),
    [("update", "UPDATE_FAILED", "one"), ("replace", "UPDATE_COMPLETE", "two")],
)
def test_restricted_actions_are_not_performed(changed: str, status: str, value: str) -> None:
    async def story(lab: Lab) -> None:
        fixed = {"resource_registry": {"resources": {"a": {"restricted_actions": changed}}}}
        await lab.create(ASKING, environment=fixed)
        await lab.update(ASKING, environment=fixed, parameters={"value": "two"})
        assert await lab.status() == status
        row = (await lab.rows())["a"]
        assert row.properties["value"] == value
        assert row.status == "COMPLETE"

    in_lab(story)
