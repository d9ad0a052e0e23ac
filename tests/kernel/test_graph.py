"""Orders of graphs, and their circles."""

from __future__ import annotations

from graphlib import CycleError
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stoker.kernel.graph import find_cycle, needs_first

GRAPHS = st.dictionaries(st.integers(0, 7), st.sets(st.integers(0, 7), max_size=3)).map(
    lambda needs: {
        node: {need for need in wanted if need in needs} for node, wanted in needs.items()
    }
)


@given(GRAPHS)
def test_every_node_comes_after_what_it_needs_unless_there_is_a_circle(
    needs: dict[int, set[int]],
) -> None:
    circle = find_cycle(needs)
    if circle is None:
        order = needs_first(needs)
        assert sorted(order) == sorted(needs)
        place = {node: index for index, node in enumerate(order)}
        assert all(place[need] < place[node] for node, wanted in needs.items() for need in wanted)
        return
    assert circle[0] == circle[-1]
    assert all(after in needs[node] for node, after in pairwise(circle))
    with pytest.raises(CycleError):
        needs_first(needs)
