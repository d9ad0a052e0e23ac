"""Orders of graphs, and their circles."""

from __future__ import annotations

from graphlib import CycleError
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stoker.kernel.graph import dependencies_first
from stoker.template.definition import Dependencies

GRAPHS = st.dictionaries(st.integers(0, 7), st.sets(st.integers(0, 7), max_size=3)).map(
    lambda dependencies: {
        node: {need for need in wanted if need in dependencies}
        for node, wanted in dependencies.items()
    }
)


@given(GRAPHS)
def test_nodes_follow_their_dependencies_unless_cyclic(
    dependencies: dict[int, set[int]],
) -> None:
    circle = Dependencies(dependencies).cycle
    if circle is None:
        order = dependencies_first(dependencies)
        assert sorted(order) == sorted(dependencies)
        place = {node: index for index, node in enumerate(order)}
        assert all(
            place[need] < place[node] for node, wanted in dependencies.items() for need in wanted
        )
        return
    assert circle[0] == circle[-1]
    assert all(after in dependencies[node] for node, after in pairwise(circle))
    with pytest.raises(CycleError):
        dependencies_first(dependencies)
