"""Rows that cannot be read: the message says so, and the stack can still be deleted."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from stoker.engine.model.evaluation_cache import EvaluationCache
from stoker.engine.model.requests import StackRequest
from stoker.engine.service.stack_access.lookup import Finder
from stoker.engine.service.views.queries import Queries
from stoker.kernel.errors import DamagedRecordError
from stoker.store.schema import tables
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

PARAMETERS = sa.update(tables.inputs).values(parameters="a1:damaged")


def test_damaged_parameters_are_named_and_allow_a_delete() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(template({"a": thing()}))
        with lab.world.database.begin() as connection:
            connection.execute(PARAMETERS)
        restarted: dict[str, Any] = {"evaluations": EvaluationCache()}
        ports = lab.apart(**restarted)
        queries = Queries(ports, Finder(ports))
        with pytest.raises(DamagedRecordError, match="bring back the database and the key"):
            await queries.stack(CALLER, address)
        operations = lab.unheard(**restarted)
        body = StackRequest(template=template({"b": thing()}), existing=True)
        with pytest.raises(DamagedRecordError):
            await operations.update(CALLER, address, body)
        await lab.delete()
        assert lab.cloud.objects == {}

    in_lab(story)


def test_operation_with_damaged_parameters_fails_with_the_reason() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(template({"a": thing()}))
        body = StackRequest(template=template({"b": thing()}))
        await lab.unheard(evaluations=EvaluationCache()).update(CALLER, address, body)
        with lab.world.database.begin() as connection:
            connection.execute(PARAMETERS)
        lab.engine.dispatch.wake((await lab.stack()).id)
        await lab.engine.dispatch.idle()
        stack = await lab.stack()
        assert (stack.action, stack.status) == ("UPDATE", "FAILED")
        assert "cannot be read" in stack.reason

    in_lab(story)
