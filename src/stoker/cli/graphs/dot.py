"""DOT, the language of Graphviz. Nested stacks are clusters; ids are numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stoker.cli.graphs.model import Graph, Node, label_lines, one_line

_STYLES = {
    "COMPLETE": 'color="#2e7d32", fillcolor="#e6f4ea"',
    "IN_PROGRESS": 'color="#b26a00", fillcolor="#fff4d6"',
    "PAUSED": 'color="#b26a00", fillcolor="#ffe3b8", penwidth=3',
    "FAILED": 'color="#c62828", fillcolor="#fde0dd", penwidth=3',
    "WAITING": 'color="#607d8b", fillcolor="#eef2f7", style="filled,rounded,dashed"',
}
_USUAL = 'color="#607d8b", fillcolor="#ffffff"'


def dot(graph: Graph) -> str:
    """Return a graph in DOT. Edges lead from a requirement to its dependents."""
    lines = [
        "digraph stack {",
        f"  label={_quoted([one_line(f'{graph.name} {graph.state}')])};",
        '  graph [rankdir=LR, compound=true, labelloc=t, fontname="sans-serif"];',
        '  node [shape=box, style="filled,rounded", fontname="sans-serif", fontsize=11];',
        '  edge [color="#78909c"];',
        *_Writer().level(graph, "  "),
        "}",
    ]
    return "\n".join(lines) + "\n"


class _Writer:
    """Numbers nodes, and writes one level after the other."""

    def __init__(self) -> None:
        self._count = 0

    def level(self, graph: Graph, margin: str) -> Iterator[str]:
        """Yield the lines of the nodes of a graph, then those of its edges."""
        ids: dict[str, int] = {}
        clusters: set[int] = set()
        for node in graph.nodes:
            self._count += 1
            number = ids[node.name] = self._count
            style, label = _STYLES.get(node.status, _USUAL), _label(node)
            if node.inner is not None and node.inner.nodes:
                clusters.add(number)
                yield f"{margin}subgraph cluster_{number} {{"
                yield f"{margin}  label={label};"
                yield f'{margin}  graph [style="filled,rounded", {style.partition(", style")[0]}];'
                # Edges end at a node. This one has no size, and they are cut at the cluster.
                yield f'{margin}  n{number} [shape=point, style=invis, label=""];'
                yield from self.level(node.inner, f"{margin}  ")
                yield f"{margin}}}"
            else:
                box = ", peripheries=2" if node.is_closed else ""
                yield f"{margin}n{number} [label={label}, {style}{box}];"
        for node in graph.nodes:
            for name in node.requires:
                start, end = ids[name], ids[node.name]
                cuts = [f"ltail=cluster_{start}"] * (start in clusters)
                cuts += [f"lhead=cluster_{end}"] * (end in clusters)
                suffix = f" [{', '.join(cuts)}]" if cuts else ""
                yield f"{margin}n{start} -> n{end}{suffix};"


def _label(node: Node) -> str:
    return _quoted(label_lines(node))


def _quoted(lines: Sequence[str]) -> str:
    r"""Return lines as one string of DOT: ``\`` starts an escape there, and ``&`` an entity."""
    text = "\n".join(lines).replace("\\", "\\\\").replace("&", "&amp;").replace('"', '\\"')
    return '"' + text.replace("\n", "\\n") + '"'
