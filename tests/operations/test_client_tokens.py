"""Requests with client tokens: a repeated request changes nothing, and events have its token."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

from stoker.engine.model.requests import Caller, EventQuery, StackRequest
from stoker.engine.model.stack_records.client_tokens import ClientToken
from stoker.kernel.errors import TOKEN_EXISTS, AlreadyExistsError
from stoker.kernel.values import replace

NESTED = json.dumps(template({"inner": thing()}))
ONE = template({"a": thing(), "n": {"type": "n.yaml"}})
FILES = {"n.yaml": NESTED}
REQUEST = StackRequest(name="stack", template=ONE, files=FILES)


def asking(text: str = "t", digest: str = "d") -> Caller:
    """A caller with a client token, who may therefore repeat the request."""
    return replace(CALLER, client=ClientToken(text, digest))


async def tokens_of_events(lab: Lab) -> set[str | None]:
    """Those of all events of the stack, and of the one nested in it."""
    stack = await lab.stack()
    assert await lab.engine.ports.store.children(stack.id)
    views = lab.engine.service.views
    query = EventQuery(nested_depth=1)
    return {event.client_token for event in await views.events(CALLER, stack.address, query)}


def test_repeated_create_with_token_is_answered_once() -> None:
    async def story(lab: Lab) -> None:
        operations = lab.engine.operations
        tokens = lab.engine.service.cloudformation.client_tokens
        assert await tokens.answered(asking()) is None
        made = await operations.create(asking(), REQUEST)
        await lab.engine.dispatch.idle()
        assert await tokens.answered(asking()) == made
        assert await tokens.answered(CALLER) is None
        with pytest.raises(
            AlreadyExistsError, match="belongs to another request, about the stack stack"
        ) as no:
            await tokens.answered(asking(digest="other"))
        assert no.value.error_type is TOKEN_EXISTS
        assert await tokens.answered(replace(asking(), project_id="other")) is None

    in_lab(story)


def test_events_of_a_request_have_its_token() -> None:
    async def story(lab: Lab) -> None:
        await lab.engine.operations.create(asking("of-create"), REQUEST)
        await lab.engine.dispatch.idle()
        assert await tokens_of_events(lab) == {"of-create"}
        await lab.update(template({"a": thing(value="2"), "n": {"type": "n.yaml"}}), files=FILES)
        assert await tokens_of_events(lab) == {"of-create", None}

    in_lab(story)


def test_rollback_events_have_token_of_failed_request() -> None:
    async def story(lab: Lab) -> None:
        bad = template({"a": thing(), "b": thing(fail="create", depends_on="a")})
        request = StackRequest(name="stack", template=bad, disable_rollback=False)
        await lab.engine.operations.create(asking(), request)
        await lab.engine.dispatch.idle()
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert {event.client_token for event in await lab.events()} == {"t"}

    in_lab(story)


def test_concurrent_requests_with_one_token_are_recorded_once() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(ONE, files=FILES)
        update = StackRequest(template=ONE, files=FILES, tags=("t",))
        results = await asyncio.gather(
            *(lab.engine.operations.update(asking(), address, update) for _ in range(3)),
            return_exceptions=True,
        )
        assert sorted(type(result).__name__ for result in results) == [
            "AlreadyExistsError",
            "AlreadyExistsError",
            "NoneType",
        ]
        await lab.engine.dispatch.idle()
        begun = [e for e in await lab.events() if (e.action, e.status) == ("UPDATE", "IN_PROGRESS")]
        assert [event.client_token for event in begun if event.resource_id is None] == ["t"]
        assert await lab.engine.service.cloudformation.client_tokens.answered(asking()) == address

    in_lab(story)


def test_tokens_identify_deletes_and_cancels() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(ONE, files=FILES)
        tokens = lab.engine.service.cloudformation.client_tokens
        await lab.begin_update(template({"a": thing(value="2")}))
        await lab.engine.operations.act(asking("cancel"), address, "cancel_update")
        await lab.engine.dispatch.idle()
        assert await tokens.answered(asking("cancel")) == address
        await lab.engine.operations.delete(asking("delete"), address)
        await lab.engine.dispatch.idle()
        assert await tokens.answered(asking("delete")) == address

    in_lab(story)


def test_repeated_change_set_request_returns_the_same_set() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(ONE, files=FILES)
        sets = lab.engine.service.cloudformation.change_sets
        update = StackRequest(template=template({"a": thing(value="2")}))
        made = await sets.of_update(asking(), address, "one", update, "")
        again = await sets.of_update(asking(), address, "one", update, "")
        assert again.change_set.id == made.change_set.id
        with pytest.raises(AlreadyExistsError):
            await sets.of_update(asking(digest="other"), address, "one", update, "")
        with pytest.raises(AlreadyExistsError):
            await sets.of_update(CALLER, address, "one", update, "")

    in_lab(story)


def test_create_with_deletes_on_failure_deletes_the_stack() -> None:
    async def story(lab: Lab) -> None:
        bad = template({"a": thing(), "b": thing(fail="create", depends_on="a")})
        request = StackRequest(
            name="stack", template=bad, disable_rollback=False, deletes_on_failure=True
        )
        address = await lab.engine.operations.create(asking(), request)
        await lab.engine.dispatch.idle()
        stack = await lab.engine.ports.store.stack(address.id)
        assert stack is not None
        assert stack.deleted_at is not None
        assert lab.cloud.objects == {}
        told = await lab.engine.ports.store.events([address.id], EventQuery())
        of_stack = [f"{each.action}_{each.status}" for each in told if each.resource_id is None]
        assert of_stack == [
            "CREATE_IN_PROGRESS",
            "CREATE_FAILED",
            "DELETE_IN_PROGRESS",
            "DELETE_COMPLETE",
        ]
        assert {each.client_token for each in told} == {"t"}

    in_lab(story)
