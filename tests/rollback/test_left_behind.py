"""A call that outlasts its operation: its object is found, or never created."""

from __future__ import annotations

import pytest
from tests.engine_world import Lab, in_lab, template, thing


@pytest.mark.parametrize("seed", range(6))
def test_rollback_removes_object_of_late_call(seed: int) -> None:
    async def story(lab: Lab) -> None:
        # the second call starts in time and ends, early or late, when time is up
        slow = {"a": thing(lag=40), "b": thing(lag=40, depends_on="a")}
        await lab.create(template(slow), timeout_mins=1, disable_rollback=False)
        stack = await lab.stack()
        assert await lab.status() == "ROLLBACK_COMPLETE", stack.reason
        assert await lab.rows() == {}
        await lab.pass_time(200)
        assert lab.cloud.journal.count("create b") == lab.cloud.journal.count("delete b") == 1
        assert lab.cloud.objects == {}

    in_lab(story, seed)
