"""Permissions to clear a hook, and refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from stoker.api.ports import Fetching
from stoker.api.rest.app import build
from stoker.api.rest.settings import RestSettings
from stoker.engine.model.requests import Caller
from stoker.engine.service.signals.signals import SignalService
from stoker.engine.service.stack_access.lookup import Finder
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import ForbiddenError, NotFoundError, ValidationError
from tests.api.fake_service import FakeCatalogue, one_engine
from tests.engine_world import Lab, in_lab, template, thing
from tests.hooks.breakpoints import begin_create, clear, finish, hooks, standing, told
from tests.simulation.world import CALLER

ONE = template({"a": thing(), "b": thing(depends_on="a")})
GATE = template({"gate": {"type": "Sim::Gate", "properties": {"count": 1}}})


async def inline(work: Callable[[], Any]) -> Any:
    """Compute without a thread: virtual time does not wait for threads."""
    return work()


@pytest.mark.parametrize(
    ("hook", "word"),
    [
        ("pre-delete", "does not stand at the hook pre-delete"),
        ("post-create", "does not stand at the hook post-create"),
        ("pre-foo", "pre-create, pre-update"),
        (None, "is not a hook"),
        (["pre-create"], "is not a hook"),
        ({"pre-create": 1}, "is not a hook"),
        ("x" * 100_000, "is not a hook"),
    ],
)
def test_a_clear_of_another_hook_is_refused(hook: Any, word: str) -> None:
    async def story(lab: Lab) -> None:
        await begin_create(lab, ONE, environment=hooks(a="pre-create"))
        await standing(lab)
        with pytest.raises(ValidationError, match=word) as refused:
            await clear(lab, "a", hook)
        assert refused.value.error_type.name == "InvalidBreakPointHook"
        assert len(refused.value.message) < 300
        assert await standing(lab) == {"a": "pre-create"}

    in_lab(story)


def test_clear_of_unknown_resource_is_refused() -> None:
    async def story(lab: Lab) -> None:
        await begin_create(lab, ONE, environment=hooks(a="pre-create"))
        await standing(lab)
        for name in ("b", "nobody"):
            with pytest.raises(NotFoundError):
                await clear(lab, name, "pre-create")

    in_lab(story)


def test_a_clear_that_comes_twice_counts_once() -> None:
    async def story(lab: Lab) -> None:
        await begin_create(lab, ONE, environment=hooks(a="pre-create"))
        await standing(lab)
        # both come before the driver has heard of the first
        ports, address = lab.apart(), (await lab.stack()).address
        unheard = SignalService(ports, Finder(ports))
        for _ in range(2):
            await unheard.signal(CALLER, address, "a", {"unset_hook": "pre-create"})
        lab.engine.dispatch.wake(address.id)
        assert await finish(lab) == "CREATE_COMPLETE"
        assert len(await told(lab)) == 2
        assert await lab.engine.ports.store.signals((await lab.stack()).id) == []
        with pytest.raises(ValidationError):
            await clear(lab, "a", "pre-create")

    in_lab(story)


def test_repeated_unprocessed_clear_is_stored_once() -> None:
    async def story(lab: Lab) -> None:
        address = await begin_create(lab, ONE, environment=hooks(a="pre-create"))
        await standing(lab)
        await lab.engine.dispatch.close()
        await clear(lab, "a", "pre-create")
        await clear(lab, "a", "pre-create")
        assert len(await lab.engine.ports.store.signals(address.id)) == 1

    in_lab(story)


def test_type_with_signals_does_not_receive_hook_clears() -> None:
    async def story(lab: Lab) -> None:
        await begin_create(lab, GATE, environment=hooks(gate=["pre-create", "post-create"]))
        assert await standing(lab) == {"gate": "pre-create"}
        await clear(lab, "gate", "pre-create")
        assert await standing(lab) == {}
        address = (await lab.stack()).address
        assert (await lab.rows())["gate"].status == "IN_PROGRESS"
        await lab.engine.signals.signal(CALLER, address, "gate", {"number": 1})
        assert await standing(lab) == {"gate": "post-create"}
        await clear(lab, "gate", "post-create")
        assert await finish(lab) == "CREATE_COMPLETE"
        assert (await lab.rows())["gate"].attributes["signals"] == 1

    in_lab(story)


def test_clear_needs_own_project_or_stack_user() -> None:
    async def story(lab: Lab) -> None:
        address = await begin_create(lab, ONE, environment=hooks(a="pre-create"))
        await standing(lab)
        details = {"unset_hook": "pre-create"}
        stranger = Caller("other", "user")
        user = Caller("project", "somebody", is_stack_user=True)
        for caller in (stranger, user):
            with pytest.raises((NotFoundError, ForbiddenError)):
                await lab.engine.signals.signal(caller, address, "a", details)
        assert await standing(lab) == {"a": "pre-create"}

    in_lab(story)


class Everything:
    """A policy that lets everything through."""

    def allows(self, rule: str, caller: Caller) -> bool:
        return True


async def everybody(headers: Any, project_id: str | None) -> Caller | None:
    return CALLER


async def no_templates(url: str) -> Any:
    raise AssertionError(url)


def test_rest_api_answers_400_to_ineffective_clear() -> None:
    async def story(lab: Lab) -> None:
        address = await begin_create(lab, ONE, environment=hooks(a="pre-create"))
        await standing(lab)
        settings, policy = RestSettings(), Everything()
        service = lab.engine.service
        app = build(
            service,
            FakeCatalogue(),
            everybody,
            policy,
            settings,
            one_engine,
            Fetching(no_templates, no_templates),
            inline,
        )
        transport = httpx.ASGITransport(app=app)
        path = f"/v1/project/stacks/stack/{address.id}/resources"
        async with httpx.AsyncClient(transport=transport, base_url="http://api") as client:
            for hook in ("pre-foo", "post-create", 5):
                answer = await client.post(f"{path}/a/signal", json={"unset_hook": hook})
                assert answer.status_code == 400
                assert answer.json()["error"]["type"] == "InvalidBreakPointHook"
            listed = (await client.get(path)).json()["resources"]
            assert {entry["resource_status"] for entry in listed} == {"INIT_COMPLETE"}
            body = {"unset_hook": "pre-create"}
            assert (await client.post(f"{path}/a/signal", json=body)).status_code == 200
            assert await finish(lab) == "CREATE_COMPLETE"
            assert (await client.post(f"{path}/a/signal", json=body)).status_code == 400

    in_lab(story)


def test_an_environment_with_an_unknown_hook_is_refused() -> None:
    async def story(lab: Lab) -> None:
        with pytest.raises(DiagnosticError, match="pre-foo"):
            await begin_create(lab, ONE, environment=hooks(a="pre-foo"))

    in_lab(story)
