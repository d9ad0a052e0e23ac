"""Stack policies, which allow or deny updates of resources."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

from stoker.engine.model.plans import Change
from stoker.engine.model.stack_policy import MAX_CHARACTERS, denial, fits, read_policy
from stoker.kernel.errors import ActionInProgressError, ValidationError


def statement(effect: str, action: Any = "Update:*", **more: Any) -> dict[str, Any]:
    about = {} if "NotResource" in more else {"Resource": "*"}
    return {"Effect": effect, "Principal": "*", "Action": action, **about, **more}


def policy(*statements: dict[str, Any]) -> dict[str, Any]:
    return read_policy(json.dumps({"Statement": list(statements)}))


ALL = statement("Allow")


@pytest.mark.parametrize(
    ("statements", "change", "denied"),
    [
        ([ALL], Change.UPDATE, None),
        ([], Change.UPDATE, "no statement allows [Update:Modify]"),
        ([statement("Allow", "Update:Modify")], Change.UPDATE, None),
        ([statement("Allow", "Update:Modify")], Change.REMOVE, "[Update:Delete]"),
        ([ALL, statement("Deny", ["Update:Replace"])], Change.REINSTATE, "Statement [#2]"),
        ([ALL, statement("Deny", "Update:Replace")], Change.CREATE, None),
        ([ALL, statement("Deny", Resource="LogicalResourceId/w?b")], Change.UPDATE, "[#2]"),
        ([ALL, statement("Deny", Resource="LogicalResourceId/db*")], Change.UPDATE, None),
        ([statement("Allow", NotResource="LogicalResourceId/db")], Change.UPDATE, None),
        ([statement("Allow", NotResource="LogicalResourceId/web")], Change.UPDATE, "no statement"),
        (
            [ALL, statement("Deny", Condition={"StringEquals": {"ResourceType": ["A::B"]}})],
            Change.REPLACE,
            "Statement [#2]",
        ),
        (
            [ALL, statement("Deny", Condition={"StringLike": {"ResourceType": "OS::*"}})],
            Change.REPLACE,
            None,
        ),
    ],
)
def test_policy_needs_an_allow_and_no_deny(
    statements: list[dict[str, Any]], change: Change, denied: str | None
) -> None:
    found = denial(policy(*statements), change, "web", "A::B")
    assert (found is None) == (denied is None)
    assert denied is None or denied in str(found)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"Statement": [1]}',
        json.dumps({"Statement": [statement("Perhaps")]}),
        json.dumps({"Statement": [statement("Allow", "Delete:*")]}),
        json.dumps({"Statement": [statement("Allow", 3)]}),
        json.dumps({"Statement": [statement("Allow", Principal="me")]}),
        json.dumps({"Statement": [statement("Allow", NotAction="Update:*")]}),
        json.dumps({"Statement": [statement("Allow", Extra=1)]}),
        json.dumps({"Statement": [statement("Allow", Condition={"Bool": {}})]}),
        json.dumps({"Statement": [statement("Allow", Condition={"StringLike": {"X": "y"}})]}),
        "[" * 100_000,
        " " * (MAX_CHARACTERS + 1),
    ],
)
def test_invalid_policy_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        read_policy(text)


def test_pattern_with_many_stars_is_matched_fast() -> None:
    before = time.process_time()
    assert not fits("*a" * 5_000 + "b", "a" * 255)
    assert fits("a*b?c*", "aXXbYc")
    assert fits("*", "")
    assert time.process_time() - before < 1


NO_REPLACE = json.dumps({"Statement": [ALL, statement("Deny", "Update:Replace")]})


def test_denied_update_changes_nothing() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(fixed="1"), "b": thing(value="1")}))
        await set_policy(lab, NO_REPLACE)
        before = dict(lab.cloud.objects)
        await lab.update(template({"a": thing(fixed="2"), "b": thing(value="2")}))
        assert await lab.status() == "UPDATE_FAILED"
        stack = await lab.stack()
        assert "[Update:Replace] for resource [LogicalResourceId/a]" in stack.reason
        assert lab.cloud.objects == before
        assert {row.properties["value"] for row in (await lab.rows()).values()} == {None, "1"}
        await lab.update(template({"a": thing(fixed="1"), "b": thing(value="2")}))
        assert await lab.status() == "UPDATE_COMPLETE"

    in_lab(story)


def test_policy_denies_replacement_decided_during_update() -> None:
    def wanted(value: str) -> dict[str, Any]:
        return template({"a": thing(value=value), "b": thing(fixed={"get_attr": ["a", "value"]})})

    async def story(lab: Lab) -> None:
        await lab.create(wanted("1"))
        await set_policy(lab, NO_REPLACE)
        kept = (await lab.rows())["b"].physical_id
        await lab.update(wanted("2"))
        assert await lab.status() == "UPDATE_FAILED"
        assert "[LogicalResourceId/b]" in (await lab.stack()).reason
        assert (await lab.rows())["b"].physical_id == kept

    in_lab(story)


def test_policy_does_not_apply_to_rollback() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(value="1")}))
        nothing_twice = {"Statement": [statement("Allow", "Update:Modify")]}
        await set_policy(lab, json.dumps(nothing_twice))
        bad = template({"a": thing(value="2"), "b": thing(fail="create", depends_on="a")})
        await lab.update(bad, disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        [found] = lab.cloud.objects.values()
        assert found.properties["value"] == "1"

    in_lab(story)


def test_concurrent_policy_change_is_refused() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(template({"a": thing(value="1")}))
        protections = lab.engine.service.cloudformation.protections
        seen = await lab.stack()
        store = lab.engine.ports.store
        before = await store.protection(seen.id)
        await protections.set_policy(CALLER, address, NO_REPLACE)
        assert await store.protection(seen.id) != before
        with pytest.raises(ActionInProgressError):
            await protections._set(seen, before, before)

    in_lab(story)


async def set_policy(lab: Lab, text: str) -> None:
    address = await lab.engine.operations.find(CALLER, "stack")
    await lab.engine.service.cloudformation.protections.set_policy(CALLER, address, text)
