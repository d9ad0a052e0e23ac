"""The forms of ``stoker graph``: tree, Mermaid, DOT and SVG."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from stoker.cli.client.stacks import Resource, Stack
from stoker.cli.graphs.dot import dot
from stoker.cli.graphs.layers import layers_of, ordered
from stoker.cli.graphs.layout import picture_of
from stoker.cli.graphs.live_graph import graph_of_stack
from stoker.cli.graphs.mermaid import mermaid
from stoker.cli.graphs.model import Graph, Node, fold
from stoker.cli.graphs.outline import outline
from stoker.cli.graphs.svg import svg
from stoker.kernel.values import replace
from tests.cli.conftest import EXAMPLES, Served, stoker

STACK = Stack("s", "shop", "CREATE", "IN_PROGRESS", "", "2026-01-01T00:00:00Z", None)
RESOURCE = Resource("", "T", "", "CREATE", "COMPLETE", "", "s", "shop", None, (), None, "")

HOSTILE = (
    'a"b',
    "a\\",
    'n1"]; click n1 "javascript:alert(1)"',
    "<script>alert(1)</script>",
    "</text></svg><script/>",
    "&lt;b&gt; &amp; &#x3c;",
    "x\n  subgraph evil\r\nend",
    "\x1b]0;title\x07\x9b31m",
    "\u202egnp.exe",
    "\ud800\uffff\x00",
    '"];} digraph evil {',
    "%%{init: {}}%%",
    "#quot; `**bold**`",
    "---\nconfig: {securityLevel: loose}\n---",
    "[red]markup[/red]",
    "end",
    "长" * 200,
)
FORMS: Mapping[str, Callable[[Graph], str]] = {"mermaid": mermaid, "dot": dot, "svg": svg}


def resource(name: str, state: str = "CREATE_COMPLETE", **changes: Any) -> Resource:
    action, _, status = state.partition("_")
    return replace(RESOURCE, name=name, action=action, status=status, **changes)


def inner(name: str, holder: str, state: str = "CREATE_COMPLETE", **changes: Any) -> Resource:
    return resource(name, state, stack_id=holder, stack_name=holder, nested=True, **changes)


# A network, a group of two members with a failure, a server that waits, and a result of both.
RECORDED = (
    resource("network", required_by=("group", "server")),
    resource("key", required_by=("server",)),
    resource("group", "CREATE_FAILED", reason="a cause", nested_id="g", required_by=("result",)),
    inner("0", "g", nested_id="m0"),
    inner("volume", "m0", required_by=("attachment",)),
    inner("attachment", "m0"),
    inner("1", "g", "CREATE_FAILED", reason="no room", nested_id="m1"),
    inner("volume", "m1", "CREATE_FAILED", reason="no room"),
    resource("server", "CREATE_IN_PROGRESS", waiting_for="BUILD", required_by=("result",)),
    resource("result", "INIT_COMPLETE"),
)


def tree(graph: Graph) -> list[str]:
    return [line.plain for line in outline(graph)]


def hostile_graph() -> Graph:
    nodes = tuple(
        Node(name, f"T {name}", "FAILED", note=name, requires=HOSTILE[max(number - 1, 0) : number])
        for number, name in enumerate(HOSTILE)
    )
    holder = Node(HOSTILE[0], "holder", "COMPLETE", inner=Graph(HOSTILE[3], nodes))
    return Graph(HOSTILE[2], (holder, *nodes[1:]), "CREATE_FAILED", "FAILED")


def test_tree_prints_each_resource_once_with_other_requirements() -> None:
    assert tree(graph_of_stack(STACK, RECORDED, 1)) == [
        "shop  CREATE_IN_PROGRESS  10 resources: 3 ✕ 1 ◐ 1 ○ 5 ✓, 3 layers",
        "✓ network  T",
        "├─ ◐ server  T  ← key  BUILD",
        "└─ ✕ group  T  a cause",
        "   │ ┆ ✓ 0  T  [2 resources: 2 ✓]",
        "   │ ┆ ✕ 1  T  [1 resource: 1 ✕]  no room",
        "   └─ ○ result  T  ← server  waits for group, server",
        "✓ key  T",
    ]


def test_depth_decides_what_is_opened() -> None:
    closed = tree(graph_of_stack(STACK, RECORDED, 0))
    assert "└─ ✕ group  T  [5 resources: 2 ✕ 3 ✓]  a cause" in closed
    opened = tree(graph_of_stack(STACK, RECORDED, 2))
    assert "   │ ┆   ┆ └─ ✓ attachment  T" in opened


def test_stack_that_contains_itself_ends() -> None:
    circle = (resource("a", nested_id="n"), inner("b", "n", nested_id="s"))
    assert len(tree(graph_of_stack(STACK, circle, 9))) == 3


def test_requirement_named_above_is_not_repeated() -> None:
    nodes = (
        Node("a", "T"),
        Node("b", "T"),
        Node("c", "T", requires=("a", "b")),
        Node("d", "T", requires=("a", "b", "c")),
    )
    assert tree(Graph("t", nodes))[1:] == ["a  T", "└─ c  T  ← b", "   └─ d  T", "b  T"]


def test_deep_chain_starts_again_at_margin() -> None:
    chain = tuple(Node(f"r{n}", "T", requires=(f"r{n - 1}",) if n else ()) for n in range(3000))
    lines = tree(Graph("t", chain))
    assert len(lines) == 3001
    assert max(map(len, lines)) < 120
    assert "r25  T  ← r24" in lines


def test_layers_are_longest_paths_also_with_cycles() -> None:
    assert layers_of({"a": (), "b": ("a",), "c": ("a", "b"), "d": ("gone",)}) == {
        "a": 0,
        "b": 1,
        "c": 2,
        "d": 0,
    }
    cycle = layers_of({"a": ("b",), "b": ("a",), "c": ("b",)})
    assert cycle["c"] > cycle["b"]
    own = Node("a", "T", requires=("a", "b")), Node("b", "T", requires=("a",))
    for write in FORMS.values():
        assert write(Graph("circle", own))
    assert len(tree(Graph("circle", own))) == 3


def test_order_in_layers_avoids_crossings() -> None:
    requires = {"a": (), "b": (), "c": (), "x": ("c",), "y": ("b",), "z": ("a",)}
    rows = ordered(requires).rows
    places = {name: place for row in rows for place, name in enumerate(row)}
    assert [places[n] for n in "xyz"] == [places[n] for n in "cba"]


def test_boxes_do_not_overlap_and_lines_lead_right() -> None:
    nodes = tuple(
        Node(f"r{n}", "T", requires=tuple(f"r{m}" for m in {n // 2, n // 3} if m < n))
        for n in range(60)
    )
    picture = picture_of(Graph("t", (*nodes, *(Node(f"alone{n}", "T") for n in range(9)))))
    boxes = sorted(picture.boxes, key=lambda box: (box.x, box.y))
    for box in boxes:
        for other in boxes:
            apart = (
                box is other
                or box.x + box.width <= other.x
                or other.x + other.width <= box.x
                or box.y + box.height <= other.y
                or other.y + other.height <= box.y
            )
            assert apart, (box.node.name, other.node.name)
        assert box.x >= 0
        assert box.y + box.height <= picture.height
    assert len(picture.lines) == sum(len(node.requires) for node in nodes)
    for line in picture.lines:
        assert [x for x, _ in line] == sorted(x for x, _ in line)
        assert all(0 <= y <= picture.height for _, y in line)


def test_many_equal_resources_are_one_node() -> None:
    members = tuple(Node(str(n), "T", "COMPLETE", requires=("net",)) for n in range(500))
    failed = Node("500", "T", "FAILED", note="no room", requires=("net",))
    last = Node("end", "T", "WAITING", requires=(*(str(n) for n in range(500)), "500"))
    folded = fold(Graph("g", (Node("net", "T", "COMPLETE"), *members, failed, last)))
    assert [node.name for node in folded.nodes] == ["net", "0 … 499", "500", "end"]
    assert folded.nodes[-1].requires == ("0 … 499", "500")
    assert tree(folded)[0] == "g  503 resources: 1 ✕ 1 ○ 501 ✓, 3 layers"
    assert "└─ ✓ 0 … 499 (×500)  T" in tree(folded)  # noqa: RUF001


def parsed_mermaid(text: str) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return labels by id and edges. Every line must be one that the generator may write."""
    label = r'\["((?:[^"#<\]\[`;%]|#\d+;|<br/>)*)"\]'
    lines = text.splitlines()
    assert lines[0] == lines[2] == "---"
    assert re.fullmatch(r'title: "(?:[^"\\]|\\.)*"', lines[1])
    assert lines[3] == "flowchart LR"
    labels, edges, depth = {}, [], 0
    for line in (line.strip() for line in lines[4:]):
        if found := re.fullmatch(rf"(?:subgraph )?(n\d+){label}", line):
            labels[found[1]] = re.sub(r"#(\d+);", lambda code: chr(int(code[1])), found[2])
            depth += line.startswith("subgraph")
        elif found := re.fullmatch(rf"(n\d+)\[{label}\]", line):
            labels[found[1]] = found[2]
        elif found := re.fullmatch(r"(n\d+) --> (n\d+)", line):
            edges.append((found[1], found[2]))
        elif line == "end":
            depth -= 1
            assert depth >= 0
        else:
            assert re.fullmatch(r"classDef \w+ [\w:#,\- ]+|class n\d+(,n\d+)* \w+", line), line
    assert depth == 0
    return labels, edges


_DOT_TOKEN = re.compile(
    r'\s*(?:("(?:[^"\\]|\\.)*")|(->)|([A-Za-z_]\w*|-?\d+(?:\.\d+)?)|([{}\[\];,=]))'
)


def parsed_dot(text: str) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Parse the part of the grammar of DOT that is used; return labels by node, and edges."""
    tokens, place = [], 0
    text = text.rstrip()
    while place < len(text):
        found = _DOT_TOKEN.match(text, place)
        assert found is not None, text[place : place + 80]
        tokens.append(found[0].strip())
        place = found.end()
    labels: dict[str, str] = {}
    edges: list[tuple[str, str]] = []

    def expect(token: str) -> None:
        assert tokens.pop(0) == token

    def attributes() -> dict[str, str]:
        found: dict[str, str] = {}
        while tokens[0] == "[":
            expect("[")
            while tokens[0] != "]":
                name = tokens.pop(0)
                assert re.fullmatch(r"[a-z]+", name)
                expect("=")
                found[name] = tokens.pop(0)
                if tokens[0] == ",":
                    expect(",")
            expect("]")
        return found

    def statements() -> None:
        expect("{")
        while tokens[0] != "}":
            name = tokens.pop(0)
            if name == "subgraph":
                assert re.fullmatch(r"cluster_\d+", tokens.pop(0))
                statements()
                continue
            if tokens[0] == "=":
                expect("=")
                assert tokens.pop(0).startswith('"')
            elif tokens[0] == "->":
                expect("->")
                edges.append((name, tokens.pop(0)))
                attributes()
            else:
                labels[name] = attributes().get("label", "")
            expect(";")
        expect("}")

    expect("digraph")
    tokens.pop(0)
    statements()
    assert not tokens
    return {name: label for name, label in labels.items() if re.fullmatch(r"n\d+", name)}, edges


def test_mermaid_has_subgraphs_edges_and_classes() -> None:
    text = mermaid(graph_of_stack(STACK, RECORDED, 1))
    labels, edges = parsed_mermaid(text)
    ids = {label.partition("<br/>")[0]: identity for identity, label in labels.items()}
    assert (ids["✓ network"], ids["✕ group"]) in edges
    assert (ids["✕ group"], ids["○ result"]) in edges
    assert len(edges) == 5
    assert f"subgraph {ids['✕ group']}[" in text
    assert f"class {ids['✕ group']},{ids['✕ 1']} failed" in text
    assert labels[ids["✕ 1"]] == "✕ 1<br/>T<br/>1 resource: 1 ✕<br/>no room"


def test_dot_has_clusters_and_edges() -> None:
    text = dot(graph_of_stack(STACK, RECORDED, 1))
    labels, edges = parsed_dot(text)
    ids = {label.strip('"').partition("\\n")[0]: name for name, label in labels.items()}
    group = re.search(r"subgraph cluster_(\d+) \{", text)
    assert group is not None
    assert (ids["✓ network"], f"n{group[1]}") in edges
    assert f"n{group[1]} -> {ids['○ result']} [ltail=cluster_{group[1]}];" in text
    assert len(edges) == 5


def test_svg_has_boxes_lines_and_both_colour_schemes() -> None:
    text = svg(graph_of_stack(STACK, RECORDED, 2))
    root = ET.fromstring(text)
    name = "{http://www.w3.org/2000/svg}"
    assert [group.get("class") for group in root.iter(f"{name}g")].count("failed") == 3
    assert len([p for p in root.iter(f"{name}path") if p.get("marker-end")]) == 6
    assert "prefers-color-scheme:dark" in text
    assert "href" not in text


@pytest.mark.parametrize("form", list(FORMS))
def test_hostile_names_stay_text(form: str) -> None:
    text = FORMS[form](hostile_graph())
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800\ufffe\uffff]", text)
    nodes = 2 * len(HOSTILE)
    if form == "svg":
        root = ET.fromstring(text)
        tags = {element.tag.partition("}")[2] for element in root.iter()}
        assert tags == {"svg", "title", "style", "defs", "marker", "path", "rect", "text", "g"}
        assert not any(key.startswith("on") for each in root.iter() for key in each.attrib)
        titles = "\n".join(each.text or "" for each in root.iter() if each.tag.endswith("title"))
        assert "<script>alert(1)</script>" in titles
    else:
        labels, edges = (parsed_mermaid if form == "mermaid" else parsed_dot)(text)
        assert len(labels) == nodes
        assert len(edges) == 2 * (len(HOSTILE) - 1)
    assert text.encode()


def test_hostile_names_are_one_line_each_in_tree() -> None:
    lines = tree(hostile_graph())
    assert len(lines) == 1 + 2 * len(HOSTILE)
    assert not any(re.search("[\x00-\x1f\x7f-\x9f\u202e]", line) for line in lines)
    assert any("[red]markup[/red]" in line for line in lines)


def test_template_is_drawn_without_service(tmp_path: Path) -> None:
    done = stoker("graph", str(EXAMPLES / "web-app.yaml"))
    assert done.exit_code == 0, done.output
    assert "      └─ server  OS::Nova::Server  ← secret, ready_handle" in done.output.splitlines()
    (tmp_path / "outer.yaml").write_text(OUTER)
    (tmp_path / "part.yaml").write_text(PART)
    outer = str(tmp_path / "outer.yaml")
    opened = stoker("graph", outer).output.splitlines()
    assert "     ┆ 1  part.yaml  [2 resources]" in opened
    assert stoker("graph", outer, "--depth", "0").output.splitlines()[1:] == [
        "salt  OS::Heat::RandomString",
        "└─ group  OS::Heat::ResourceGroup  [6 resources]",
    ]
    more = stoker("graph", outer, "--depth", "0", "-P", "count=3").output
    assert "[9 resources]" in more


OUTER = """heat_template_version: 2018-08-31
parameters:
  count: {type: number, default: 2}
resources:
  salt: {type: OS::Heat::RandomString}
  group:
    type: OS::Heat::ResourceGroup
    properties:
      count: {get_param: count}
      resource_def: {type: part.yaml, properties: {word: {get_attr: [salt, value]}}}
"""
PART = """heat_template_version: 2018-08-31
parameters:
  word: {type: string}
resources:
  first: {type: OS::Heat::RandomString}
  second: {type: OS::Heat::Value, depends_on: first, properties: {value: {get_param: word}}}
"""


def test_output_file_chooses_the_form(tmp_path: Path) -> None:
    template = str(EXAMPLES / "web-app.yaml")
    for name, start in (
        ("a.svg", "<svg"),
        ("a.dot", "digraph"),
        ("a.mmd", "---"),
        ("a.txt", template),
    ):
        assert stoker("graph", template, "-o", str(tmp_path / name)).exit_code == 0
        assert (tmp_path / name).read_text().startswith(start)


def test_template_mistakes_are_reported(tmp_path: Path) -> None:
    template = tmp_path / "wrong.yaml"
    template.write_text("heat_template_version: 2018-08-31\nresources: {a: {type: Nothing}}\n")
    done = stoker("graph", str(template))
    assert (done.exit_code, done.stdout.splitlines()[1]) == (0, "a  Nothing")
    assert f"The template has 1 error: stoker validate {template}" in done.stderr
    template.write_text("heat_template_version: [\n")
    broken = stoker("graph", str(template))
    assert broken.exit_code == 2
    assert f"{template}:" in broken.output
    assert stoker("graph", str(tmp_path / "none.yaml")).exit_code == 2
    assert "-e and -P are for a template" in stoker("graph", "shop", "-P", "a=b").output


def test_running_stack_is_drawn(service: Served, tmp_path: Path) -> None:
    (tmp_path / "drawn.yaml").write_text(OUTER)
    (tmp_path / "part.yaml").write_text(PART)
    done = service.run("deploy", str(tmp_path / "drawn.yaml"))
    assert done.exit_code == 0, done.output
    lines = service.run("graph", "drawn", "--depth", "2").output.splitlines()
    assert lines[0] == "drawn  CREATE_COMPLETE  8 resources: 8 ✓, 2 layers"
    assert lines[1:4] == [
        "✓ salt  OS::Heat::RandomString",
        "└─ ✓ group  OS::Heat::ResourceGroup",
        "     ┆ ✓ 0  part.yaml",
    ]
    labels, edges = parsed_dot(
        service.run("graph", "drawn", "--depth", "9", "--format", "dot").output
    )
    assert (len(labels), len(edges)) == (8, 3)
    assert '"group/0/second"' in service.run("graph", "drawn", "--depth", "9", "--json").output
    assert service.run("destroy", "drawn", "--yes").exit_code == 0
    assert service.run("graph", "drwan").exit_code == 2
