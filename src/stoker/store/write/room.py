"""Room for changes: steps start as fast as their changes are written, a few in each turn.

A step that waits for its first commit needs some KiB, and a tree may have thousands of steps that
could start together. All steps that start in one turn of the event loop run before any request is
answered. So both numbers are bounded, and callers wait for their turn in a queue of their project.
See docs/develop/decisions/0056-room-for-steps.md. Tested by tests/store/test_room.py.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from stoker.kernel.time_limit import project

MAX_WAITING = 2048  # waiting changes of a project up to which there is room for more
STARTS_PER_TURN = 128  # of all projects in one turn of the event loop


class Room:
    """Gives callers room for changes that they will enter."""

    def __init__(self, waiting: Callable[[str], int]) -> None:
        """``waiting`` returns how many changes of a project wait to be written."""
        self._waiting = waiting
        # By project, what its callers want; none has an empty queue. The first is served next.
        self._callers: dict[str, deque[tuple[int, asyncio.Future[int]]]] = {}
        self._left = STARTS_PER_TURN  # in this turn of the loop

    async def get(self, wanted: int) -> int:
        """Wait for room; return for how many of the ``wanted`` changes there is."""
        project_id = project.get()
        if project_id not in self._callers and (count := self._take(project_id, wanted)):
            return count
        given: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._callers.setdefault(project_id, deque()).append((wanted, given))
        return await given

    def give(self) -> None:
        """Let callers continue while there is room: one of each project in turn."""
        is_left = True
        while is_left:
            is_left = False
            for project_id in list(self._callers):
                is_left |= self._give_next(project_id)

    def _give_next(self, project_id: str) -> bool:
        """Let the next caller of a project continue; return whether one could."""
        callers = self._callers[project_id]
        while callers and callers[0][1].done():  # cancelled
            callers.popleft()
        if callers and not (count := self._take(project_id, callers[0][0])):
            return False
        del self._callers[project_id]
        if not callers:
            return False
        callers.popleft()[1].set_result(count)
        if callers:
            self._callers[project_id] = callers  # behind the other projects
        return True

    def _take(self, project_id: str, wanted: int) -> int:
        count = min(wanted, self._left, MAX_WAITING - self._waiting(project_id))
        if count <= 0:
            return 0
        if self._left == STARTS_PER_TURN:
            asyncio.get_running_loop().call_soon(self._next_turn)
        self._left -= count
        return count

    def _next_turn(self) -> None:
        self._left = STARTS_PER_TURN
        self.give()
