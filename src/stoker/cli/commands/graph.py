"""``stoker graph``: the resources of a stack or a template, and their dependencies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import wraps
from pathlib import Path
from typing import Any

import click
from msgspec import Struct
from rich.console import Console

from stoker.cli.arguments import options as shared
from stoker.cli.arguments.files import TEMPLATES, with_environment_beside
from stoker.cli.arguments.locations import STDIN, Location, location_of, require_one_stdin
from stoker.cli.arguments.naming import the_stack
from stoker.cli.client.target import Target
from stoker.cli.console.console import print_json
from stoker.cli.console.failures import InputError
from stoker.cli.graphs.dot import dot
from stoker.cli.graphs.live_graph import read_graph
from stoker.cli.graphs.mermaid import mermaid
from stoker.cli.graphs.model import Graph, as_data, fold
from stoker.cli.graphs.outline import outline
from stoker.cli.graphs.svg import svg
from stoker.cli.graphs.template_graph import graph_of_template
from stoker.cli.local.service import connect

TREE = "tree"
_FORMATS: Mapping[str, Callable[[Graph], str]] = {"mermaid": mermaid, "dot": dot, "svg": svg}
_SUFFIXES = {".mmd": "mermaid", ".mermaid": "mermaid", ".dot": "dot", ".gv": "dot", ".svg": "svg"}


class _Inputs(Struct, frozen=True):
    """Values for a template."""

    environments: Sequence[Location]
    uses_environment_beside: bool
    parameters: Mapping[str, str]


def _template_inputs(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options with values for a template; the command gets ``inputs``."""

    @wraps(command)
    def with_inputs(
        environments: tuple[Location, ...],
        auto_environment: bool,
        parameters: dict[str, str],
        **others: Any,
    ) -> Any:
        return command(inputs=_Inputs(environments, auto_environment, parameters), **others)

    return shared.environments(shared.auto_environment(shared.parameters(with_inputs)))


@click.command("graph")
@click.argument("stack", metavar="STACK|TEMPLATE", shell_complete=shared.complete_stacks_and_files)
@_template_inputs
@click.option(
    "--format",
    "form",
    type=click.Choice([TREE, *_FORMATS]),
    help="Form of the graph. Default: as the suffix of the output file says, or tree.",
)
@click.option(
    "--depth",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="Levels of nested stacks that are drawn; deeper ones are a box with counts.",
)
@click.option("--all", "every", is_flag=True, help="Draw each of many equal resources.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write to a file.",
)
@shared.as_json
@shared.service
def command(
    stack: str,
    inputs: _Inputs,
    form: str | None,
    depth: int,
    every: bool,
    output: Path | None,
    as_json: bool,
    target: Target,
) -> None:
    """Draw the resources of STACK or TEMPLATE, each after those that it requires.

    A stack is drawn with the current states: ✓ complete, ◐ in progress, ‖ paused at a hook, ✕
    failed, ○ waits. A template (a path with a suffix, as app.yaml, a URL, or - for standard input)
    needs no service; parameters without a value are assumed to get valid ones.

    In the tree, a resource is below the last resource that it requires; "← a, b" names further
    ones. Lines behind ┆ are inside a nested stack. In the other forms, arrows lead from a
    requirement to its dependents. SVG has light and dark colours; DOT is for Graphviz.

    \b
    Examples
      stoker graph web-app
      stoker graph examples/web-app.yaml -P port=80
      stoker graph web-app --depth 3 -o web-app.svg
      stoker graph web-app --format mermaid >> README.md
      stoker graph web-app --format dot | dot -Tpdf -o web-app.pdf
    """
    place = location_of(stack)
    if place == STDIN or stack.endswith(TEMPLATES) or "/" in stack:
        graph = _of_template(place, inputs, depth)
    elif inputs.environments or inputs.parameters:
        raise InputError("-e and -P are for a template; the stack has its values")
    else:
        with closing(connect(target)) as client:
            graph = read_graph(client, the_stack(client, stack, outputs=False), depth)
    if as_json:
        state = graph.state or None
        print_json({"name": graph.name, "state": state, "resources": list(as_data(graph))})
        return
    shown = graph if every else fold(graph)
    form = form or _SUFFIXES.get(output.suffix.lower() if output else "", TREE)
    if output is not None:
        lines = (line.plain for line in outline(shown))
        text = "".join(f"{line}\n" for line in lines) if form == TREE else _FORMATS[form](shown)
        output.write_text(text, encoding="utf-8")
    elif form == TREE:
        console = Console(highlight=False)
        for line in outline(shown):
            console.print(line, soft_wrap=True)
    else:
        click.echo(_FORMATS[form](shown), nl=False)


def _of_template(template: Location, inputs: _Inputs, depth: int) -> Graph:
    require_one_stdin([template, *inputs.environments])
    used = inputs.environments
    if inputs.uses_environment_beside:
        used = with_environment_beside(template, used)
    graph, errors = graph_of_template(template, used, inputs.parameters, depth)
    if errors:
        words = "1 error" if errors == 1 else f"{errors} errors"
        click.echo(f"The template has {words}: stoker validate {graph.name}", err=True)
    return graph
