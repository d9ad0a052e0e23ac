"""Templates at addresses are fetched when a request is accepted, and only then."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.types import Types
from tests.simulation.world import CALLER, EngineLife, World

from stoker.engine.model.requests import StackRequest
from stoker.engine.service.requests.fetch import MOST
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import LimitExceededError, ValidationError
from stoker.resources.aws.stack import NestedStack

SIZED = json.dumps(
    template(
        {"t": thing(value={"get_param": "value"})},
        parameters={"value": {"type": "string", "default": "none"}},
        outputs={"value": {"value": {"get_attr": ["t", "value"]}}},
    )
)


class Web:
    """Web sites in memory, which record all requests."""

    def __init__(self, pages: dict[str, str]) -> None:
        self.pages = pages
        self.asked: list[str] = []

    async def __call__(self, url: str) -> str:
        self.asked.append(url)
        if url not in self.pages:
            raise ValidationError(f"{url} answers with status 404.")
        return self.pages[url]


class WithNestedStack(Types):
    """The simulated types, and CloudFormation's nested stack."""

    def find(self, type_name: str) -> Any:
        return NestedStack() if type_name == NestedStack.type_name else super().find(type_name)


def on_web(web: Web, story: Any) -> None:
    """Run a story in a lab whose service reaches these web sites."""
    world = World(1, types=WithNestedStack())
    world.cloud.trouble = 0.0

    async def life(engine: EngineLife) -> None:
        lab = Lab(engine, world)
        lab.engine = EngineLife(lab.apart(fetch_template=web))
        await story(lab)

    world.live(life)


def by_url(url: Any, **parameters: str) -> dict[str, Any]:
    """CloudFormation's nested stack."""
    return {
        "type": "AWS::CloudFormation::Stack",
        "properties": {"TemplateURL": url, "Parameters": parameters},
    }


def test_type_may_be_a_url() -> None:
    web = Web({"http://web/t.yaml": SIZED})

    async def story(lab: Lab) -> None:
        wanted = template(
            {"n": {"type": "http://web/t.yaml", "properties": {"value": "x"}}},
            outputs={"o": {"value": {"get_attr": ["n", "value"]}}},
        )
        address = await lab.create(wanted)
        assert await lab.status() == "CREATE_COMPLETE"
        assert (await lab.engine.views.output(CALLER, address, "o")).value == "x"
        assert web.asked == ["http://web/t.yaml"]
        assert await lab.engine.views.files(CALLER, address) == web.pages

    on_web(web, story)


def test_fetched_templates_may_refer_to_others() -> None:
    outer = json.dumps(template({"n": {"type": "http://web/t.yaml"}}))
    web = Web({"http://web/outer.yaml": outer, "http://web/t.yaml": SIZED})

    async def story(lab: Lab) -> None:
        await lab.create(template({"n": {"type": "http://web/outer.yaml"}}))
        assert await lab.status() == "CREATE_COMPLETE"
        assert len(lab.cloud.objects) == 1

    on_web(web, story)


def test_files_of_the_request_are_not_fetched() -> None:
    web = Web({})

    async def story(lab: Lab) -> None:
        wanted = template({"n": {"type": "http://web/t.yaml"}})
        await lab.create(wanted, files={"http://web/t.yaml": SIZED})
        assert await lab.status() == "CREATE_COMPLETE"
        assert web.asked == []

    on_web(web, story)


def test_unreachable_template_is_reported_with_its_position() -> None:
    async def story(lab: Lab) -> None:
        text = json.dumps(template({"n": {"type": "http://web/no.yaml"}}), indent=1)
        with pytest.raises(DiagnosticError) as raised:
            await lab.create(text)
        found = raised.value.first
        assert "answers with status 404" in found.message
        assert found.path == ("resources", "n", "type")
        assert found.position is not None

    on_web(Web({}), story)


def test_update_retries_failed_template_fetch() -> None:
    web = Web({})

    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing()}))
        wanted = template({"a": thing(), "n": {"type": "http://web/t.yaml"}})
        for _ in range(2):
            with pytest.raises(DiagnosticError, match="answers with status 404"):
                await lab.update(wanted)
        web.pages["http://web/t.yaml"] = SIZED
        await lab.update(wanted)
        assert await lab.status() == "UPDATE_COMPLETE"
        assert len(web.asked) == 3

    on_web(web, story)


def test_number_of_fetched_templates_is_bounded() -> None:
    class Endless(Web):
        async def __call__(self, url: str) -> str:
            self.asked.append(url)
            inner = {f"n{n}": {"type": f"{url}{n}.yaml"} for n in range(10)}
            return json.dumps(template(inner))

    web = Endless({})

    async def story(lab: Lab) -> None:
        with pytest.raises(LimitExceededError):
            await lab.create(template({"n": {"type": "http://web/n.yaml"}}))
        assert len(web.asked) <= MOST

    on_web(web, story)


def test_cloudformation_nested_stack_shows_its_outputs() -> None:
    web = Web({"http://web/t.yaml": SIZED})

    async def story(lab: Lab) -> None:
        wanted = template(
            {"n": by_url("http://web/t.yaml", value="x")},
            outputs={"o": {"value": {"get_attr": ["n", "Outputs.value"]}}},
        )
        address = await lab.create(wanted)
        assert await lab.status() == "CREATE_COMPLETE"
        assert (await lab.engine.views.output(CALLER, address, "o")).value == "x"
        web.pages["http://web/t.yaml"] = SIZED.replace("none", "other")
        await lab.update(template({"n": by_url("http://web/t.yaml")}))
        values = [found.properties["value"] for found in lab.cloud.objects.values()]
        assert values == ["other"]

    on_web(web, story)


def test_template_url_resolved_later_is_fetched() -> None:
    web = Web({"http://web/t.yaml": SIZED})

    async def story(lab: Lab) -> None:
        late = {"get_attr": ["a", "value"]}
        await lab.create(
            template({"a": thing(value="http://web/t.yaml"), "n": by_url(late, value="x")})
        )
        assert await lab.status() == "CREATE_COMPLETE"
        await lab.update(template({"a": thing(value="http://web/no"), "n": by_url(late)}))
        assert "answers with status 404" in (await lab.stack()).reason

    on_web(web, story)


def test_nested_stack_has_its_own_timeout() -> None:
    slow = json.dumps(template({"t": thing(slow=600)}))

    async def story(lab: Lab) -> None:
        body = by_url("http://web/t.yaml")
        body["properties"]["TimeoutInMinutes"] = 1
        begun = lab.world.time()
        await lab.create(template({"n": body}))
        assert "timed out" in (await lab.stack()).reason
        assert 60 <= lab.world.time() - begun < 120

    on_web(Web({"http://web/t.yaml": slow}), story)


def test_validation_fetches_as_creation_does() -> None:
    web = Web({"http://web/t.yaml": SIZED})

    async def story(lab: Lab) -> None:
        body = StackRequest(template=template({"n": {"type": "http://web/t.yaml"}}))
        described, _ = await lab.engine.service.descriptions.validate(
            CALLER, body, show_nested=True
        )
        assert "n" in described["NestedParameters"]

    on_web(web, story)


def test_disabled_fetching_is_reported() -> None:
    async def story(lab: Lab) -> None:
        with pytest.raises(DiagnosticError, match="fetches no templates"):
            await lab.create(template({"n": {"type": "http://web/t.yaml"}}))

    in_lab(story)
