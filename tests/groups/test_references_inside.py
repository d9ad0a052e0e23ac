"""The outside view of a nested stack: its reference, its members, and its failures."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

from stoker.api.rest.faults import answer
from stoker.engine.model.requests import StackRequest
from stoker.kernel.diagnostics import DiagnosticError
from stoker.template.definition import Output


def nested(outputs: str) -> dict[str, str]:
    text = f"""
heat_template_version: 2021-04-16
resources: {{inner: {{type: Sim::Thing, properties: {{value: some}}}}}}
outputs: {outputs}
"""
    return {"nested.yaml": text}


async def outputs(lab: Lab) -> dict[str, Output]:
    view = await lab.engine.views.stack(CALLER, (await lab.stack()).address)
    return {output.name: output for output in view.outputs or ()}


def shown(**values: Any) -> dict[str, Any]:
    return {name: {"value": value} for name, value in values.items()}


def test_an_output_named_stack_id_is_the_reference() -> None:
    async def story(lab: Lab) -> None:
        wanted = {
            "n": {"type": "nested.yaml"},
            "user": thing(uses={"get_resource": "n"}),
        }
        found = shown(
            reference={"get_resource": "n"}, attribute={"get_attr": ["n", "OS::stack_id"]}
        )
        files = nested("{'OS::stack_id': {value: {get_resource: inner}}}")
        await lab.create(template(wanted, outputs=found), files=files)
        rows = await lab.rows()
        made = next(o.id for o in lab.cloud.objects.values() if o.id != rows["user"].physical_id)
        assert rows["user"].properties["uses"] == made
        assert rows["n"].physical_id == rows["n"].nested_id
        assert {output.value for output in (await outputs(lab)).values()} == {made}

    in_lab(story)


def test_nested_stack_reference_defaults_to_its_address() -> None:
    async def story(lab: Lab) -> None:
        wanted = template({"n": {"type": "nested.yaml"}}, outputs=shown(o={"get_resource": "n"}))
        await lab.create(wanted, files=nested("{}"))
        assert (await outputs(lab))["o"].value.startswith("arn:openstack:heat::project:stacks/")

    in_lab(story)


GROUPS = {
    "OS::Heat::AutoScalingGroup": {"min_size": 3, "max_size": 3, "desired_capacity": 3},
    "OS::Heat::ResourceGroup": {"count": 3},
}


@pytest.mark.parametrize("type_name", GROUPS)
def test_members_are_reached_by_their_number_in_order(type_name: str) -> None:
    key = "resource" if type_name == "OS::Heat::AutoScalingGroup" else "resource_def"
    gathered = "outputs_list" if key == "resource" else "value"

    async def story(lab: Lab) -> None:
        group = {"type": type_name, "properties": {**GROUPS[type_name], key: thing(value="abc")}}
        found = shown(
            refs={"get_attr": ["g", "refs"]},
            ids=[{"get_attr": ["g", f"resource.{number}"]} for number in range(3)],
            values=[{"get_attr": ["g", f"resource.{number}.value"]} for number in range(3)],
            letter={"get_attr": ["g", "resource.1.value", 1]},
            path={"get_attr": ["g", "resource.1", "value", 2]},
            gathered={
                "get_attr": ["g", *([gathered, "value"] if key == "resource" else ["value"])]
            },
            none={"get_attr": ["g", "resource.7.value"]},
            nobody={"get_attr": ["g", "resource.8"]},
        )
        await lab.create(template({"g": group}, outputs=found))
        assert await lab.status() == "CREATE_COMPLETE", (await lab.stack()).reason
        told = await outputs(lab)
        assert {name for name, output in told.items() if output.error} == {"none", "nobody"}
        assert 'resource.7.value: The specified reference "7" is' in str(told["none"].error)
        seen = {name: output.value for name, output in told.items()}
        assert seen["ids"] == seen["refs"]
        assert len(set(seen["ids"])) == 3
        assert seen["values"] == seen["gathered"] == ["abc"] * 3
        assert (seen["letter"], seen["path"], seen["none"]) == ("b", "c", None)

    in_lab(story)


FAILING = "{good: {value: yes}, bad: {value: {list_join: [1, {get_attr: [inner, value]}]}}}"


def test_output_reading_failed_output_shows_its_error() -> None:
    async def story(lab: Lab) -> None:
        found = shown(
            bad={"get_attr": ["n", "bad"]},
            good={"get_attr": ["n", "good"]},
            joined={"list_join": [",", [{"get_attr": ["n", "bad"]}]]},
        )
        wanted = template({"n": {"type": "nested.yaml"}}, outputs=found)
        await lab.create(wanted, files=nested(FAILING))
        assert await lab.status() == "CREATE_COMPLETE"
        seen = await outputs(lab)
        assert seen["good"].error is None
        for name in ("bad", "joined"):
            assert seen[name].value is None
            assert "Error in n output bad" in str(seen[name].error)
            assert "the delimiter is text" in str(seen[name].error)
        view = await lab.engine.views.resource(CALLER, (await lab.stack()).address, "n")
        assert view.attributes == {"good": True, "bad": None}

    in_lab(story)


def test_nested_output_may_have_any_name() -> None:
    async def story(lab: Lab) -> None:
        wanted = template(
            {"n": {"type": "nested.yaml"}}, outputs=shown(found={"get_attr": ["n", "outputs"]})
        )
        await lab.create(wanted, files=nested("{outputs: {value: mine}}"))
        assert (await outputs(lab))["found"].value == "mine"
        view = await lab.engine.views.resource(CALLER, (await lab.stack()).address, "n")
        assert view.attributes == {"outputs": "mine"}

    in_lab(story)


def test_resource_using_failed_output_fails_with_cause() -> None:
    async def story(lab: Lab) -> None:
        user = thing(value={"get_attr": ["n", "bad"]})
        wanted = template({"n": {"type": "nested.yaml"}, "user": user})
        await lab.create(wanted, files=nested(FAILING))
        assert await lab.status() == "CREATE_FAILED"
        assert "the delimiter is text" in (await lab.stack()).reason
        await lab.update(wanted, files=nested("{bad: {value: mended}}"))
        assert await lab.status() == "UPDATE_COMPLETE", (await lab.stack()).reason
        assert (await lab.rows())["user"].properties["value"] == "mended"

    in_lab(story)


NOT_THERE = (
    "heat_template_version: 2018-08-31\nresources: {a: {type: Sim::Thing, properties: {x: 1}}}"
)
MEMBER = {"count": 2, "resource_def": {"type": "Sim::Thing", "properties": {"x": 1}}}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"type": "nested.yaml"}, id="template"),
        pytest.param({"type": "OS::Heat::ResourceGroup", "properties": MEMBER}, id="group"),
    ],
)
def test_unknown_nested_property_is_refused_at_creation(
    body: dict[str, Any],
) -> None:
    async def story(lab: Lab) -> None:
        request: dict[str, Any] = {
            "template": template({"n": body}),
            "files": {"nested.yaml": NOT_THERE},
        }
        operations = lab.engine.operations
        descriptions = lab.engine.service.descriptions
        _, warnings = await descriptions.validate(CALLER, StackRequest(**request))
        assert [found.code for found in warnings] == ["unknown-property"]
        with pytest.raises(DiagnosticError, match="x"):
            await operations.create(CALLER, StackRequest(name="stack", **request))
        outside = template({"n": {**thing(), "properties": {"x": 1}}})
        with pytest.raises(DiagnosticError, match="x"):
            await descriptions.validate(CALLER, StackRequest(template=outside))

    in_lab(story)


def test_path_through_two_nested_stacks_is_resolved() -> None:
    middle = """
heat_template_version: 2021-04-16
resources: {i: {type: nested.yaml}}
"""
    paths = {
        "joined": ["n", "resource.i.resource.inner", "value"],
        "apart": ["n", "resource.i", "resource.inner", "value"],
    }

    async def story(lab: Lab) -> None:
        wanted = template(
            {"n": {"type": "middle.yaml"}},
            outputs=shown(**{name: {"get_attr": path} for name, path in paths.items()}),
        )
        files = nested("{o: {value: {get_attr: [inner, value]}}}")
        await lab.create(wanted, files={**files, "middle.yaml": middle})
        found = await outputs(lab)
        assert {name: output.value for name, output in found.items()} == dict.fromkeys(
            paths, "some"
        )

    in_lab(story)


def test_nested_fault_names_resources_above_it() -> None:
    provider = """
heat_template_version: 2021-04-16
resources: {random: {type: OS::Heat::RandomString, properties: {length: BAD}}}
"""
    body = {"type": "OS::Heat::ResourceGroup", "properties": {"resource_def": {"type": "My::R"}}}

    async def story(lab: Lab) -> None:
        with pytest.raises(DiagnosticError) as refused:
            await lab.create(
                template({"random_group": body}),
                environment={"resource_registry": {"My::R": "provider.yaml"}},
                files={"provider.yaml": provider},
            )
        assert refused.value.first.above == ("random_group<nested_stack>", "0<provider.yaml>")
        message = json.loads(bytes(answer(refused.value).body))["error"]["message"]
        assert message == (
            "provider.yaml:3:65: Property error: : resources.random_group<nested_stack>"
            ".resources.0<provider.yaml>.resources.random: : Value 'BAD' is not an integer"
            " (at properties.length)"
        )

    in_lab(story)
