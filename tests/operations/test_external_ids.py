"""Objects that exist already, which a template names by their ids."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing

VALUE = {"get_attr": ["a", "value"]}


def referring(value: str, external_id: Any) -> dict[str, Any]:
    return template(
        {"a": thing(value=value), "b": {"type": "Sim::Thing", "external_id": external_id}}
    )


def test_an_id_may_come_from_another_resource() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(referring("theirs", VALUE))
        assert (await lab.rows())["b"].physical_id == "theirs"

    in_lab(story)


@pytest.mark.parametrize(
    ("value", "external_id"), [("a,b", {"str_split": [",", VALUE]}), ("", VALUE)]
)
def test_an_id_that_turns_out_to_be_none_fails_its_resource(value: str, external_id: Any) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(referring(value, external_id))
        assert await lab.status() == "CREATE_FAILED"
        assert "the external id of b" in (await lab.stack()).reason

    in_lab(story)
