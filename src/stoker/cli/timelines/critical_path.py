"""The critical path of an operation: the chain of bars that decided how long it took.

It leads from the bar that ended last back to the bar that this one waited for, which is the last to
end among its requirements, and so on. Within a nested stack, the same is done for its bars. A
delete waits for the deletes of the dependents. The requirements of resources that no longer exist
are unknown: they are assumed to have waited for the bar that ended right before their start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stoker.cli.arguments.naming import paths_of
from stoker.cli.client.stacks import Resource, Stack
from stoker.cli.timelines.operation import Bar, Operation

_SLACK_SECONDS = 0.05  # tolerance between the end of a requirement and the start
_WHOLE_SECONDS = 1.0  # the same if the service has no precise times
Path = tuple[str, ...]


def requirements_of(stack: Stack, resources: Sequence[Resource]) -> dict[Path, list[Path]]:
    """Return the paths that each path requires, as the resources are now."""
    paths = paths_of(stack, resources)
    found: dict[Path, list[Path]] = {}
    for resource in resources:
        above = paths.get(resource.stack_id, ())
        for dependent in resource.required_by:
            found.setdefault((*above, dependent), []).append((*above, resource.name))
    return found


def critical_path(
    operation: Operation, requires: Mapping[Path, Sequence[Path]], now: float
) -> tuple[Bar, ...]:
    """Return the bars of the critical path, in the order of their starts."""
    return tuple(_Search(operation, requires, now).path_in((), operation.ends_at(now)))


class _Search:
    """Searches the bars of one operation."""

    def __init__(
        self, operation: Operation, requires: Mapping[Path, Sequence[Path]], now: float
    ) -> None:
        self._now = now
        self._requires = requires
        is_precise = any(bar.start % 1 for bar in operation.bars)
        self._slack = _SLACK_SECONDS if is_precise else _WHOLE_SECONDS
        self._dependents: dict[Path, list[Path]] = {}
        for path, needs in requires.items():
            for need in needs:
                self._dependents.setdefault(need, []).append(path)
        self._by_path: dict[Path, list[Bar]] = {}
        self._by_stack: dict[Path, list[Bar]] = {}  # by the path of the holder
        for bar in operation.bars:
            self._by_path.setdefault(bar.path, []).append(bar)
            self._by_stack.setdefault(bar.path[:-1], []).append(bar)

    def path_in(self, holder: Path, until: float) -> list[Bar]:
        """Return the path among the bars directly in a stack, with those nested in them."""
        bars = [bar for bar in self._by_stack.get(holder, ()) if bar.start <= until]
        chain: list[Bar] = []
        current = self._latest(bars)
        while current is not None:
            chain.append(current)
            current = self._latest(self._before(current))
        found: list[Bar] = []
        for bar in reversed(chain):
            found.append(bar)
            if bar.path in self._by_stack:
                found += self.path_in(bar.path, self._end(bar))
        return found

    def _before(self, bar: Bar) -> list[Bar]:
        """Return the bars for which a bar had to wait."""
        known = bar.path in self._requires or bar.path in self._dependents
        if known:
            neighbours = self._dependents if bar.action == "DELETE" else self._requires
            paths = [bar.path, *neighbours.get(bar.path, ())]
            near = [each for path in paths for each in self._by_path.get(path, ())]
        else:
            near = [
                each
                for each in self._by_stack[bar.path[:-1]]
                if self._end(each) >= bar.start - self._slack
            ]
        latest = bar.start + self._slack
        return [each for each in near if each.start < bar.start and self._end(each) <= latest]

    def _end(self, bar: Bar) -> float:
        return self._now if bar.end is None else bar.end

    def _latest(self, bars: Sequence[Bar]) -> Bar | None:
        return max(bars, key=self._end, default=None)
