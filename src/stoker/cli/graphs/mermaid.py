"""Mermaid flowcharts, which GitHub, GitLab and many editors show.

Names of others are in quoted labels only, with every character that could have a meaning as an
entity code. Ids are numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from stoker.cli.graphs.model import SIGNS, TIMES, Graph, Node, label_lines, one_line

_PLAIN = frozenset((*" _.:/,-()…", TIMES, *SIGNS.values()))
_CLASSES = {
    "COMPLETE": "fill:#e6f4ea,stroke:#2e7d32,color:#123d17",
    "IN_PROGRESS": "fill:#fff4d6,stroke:#b26a00,color:#4d2e00",
    "PAUSED": "fill:#ffe3b8,stroke:#b26a00,stroke-width:3px,color:#4d2e00",
    "FAILED": "fill:#fde0dd,stroke:#c62828,stroke-width:3px,color:#5f1212",
    "WAITING": "fill:#eef2f7,stroke:#607d8b,stroke-dasharray:4 3,color:#263238",
}


def mermaid(graph: Graph) -> str:
    """Return the flowchart of a graph. Edges lead from a requirement to its dependents."""
    title = json.dumps(one_line(f"{graph.name} {graph.state}"))
    lines = ["---", f"title: {title}", "---", "flowchart LR"]
    writer = _Writer()
    lines += writer.level(graph, "  ")
    used = {status: ids for status, ids in writer.by_status.items() if status in _CLASSES}
    for status, style in _CLASSES.items():
        if status in used:
            lines.append(f"  classDef {status.lower()} {style}")
            lines.append(f"  class {','.join(used[status])} {status.lower()}")
    return "\n".join(lines) + "\n"


class _Writer:
    """Numbers nodes, and writes one level after the other."""

    def __init__(self) -> None:
        self.by_status: dict[str, list[str]] = {}  # ids of nodes
        self._count = 0

    def level(self, graph: Graph, margin: str) -> Iterator[str]:
        """Yield the lines of the nodes of a graph, then those of its edges."""
        ids: dict[str, str] = {}
        for node in graph.nodes:
            self._count += 1
            ids[node.name] = identity = f"n{self._count}"
            self.by_status.setdefault(node.status, []).append(identity)
            label = _label(node)
            if node.inner is not None and node.inner.nodes:
                yield f'{margin}subgraph {identity}["{label}"]'
                yield from self.level(node.inner, f"{margin}  ")
                yield f"{margin}end"
            elif node.is_closed:
                yield f'{margin}{identity}[["{label}"]]'
            else:
                yield f'{margin}{identity}["{label}"]'
        for node in graph.nodes:
            for name in node.requires:
                yield f"{margin}{ids[name]} --> {ids[node.name]}"


def _label(node: Node) -> str:
    return "<br/>".join(map(_escaped, label_lines(node)))


def _escaped(text: str) -> str:
    return "".join(c if c in _PLAIN or c.isalnum() else f"#{ord(c)};" for c in text)
