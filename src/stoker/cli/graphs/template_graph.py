"""The graph of a template, without a service."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from stoker.cli.arguments.files import bundle
from stoker.cli.console.findings import DocumentError
from stoker.cli.graphs.model import Graph, Node, count_statuses
from stoker.cli.offline import finding_in
from stoker.cli.offline_template import OfflineTemplate
from stoker.kernel.diagnostics import DiagnosticError
from stoker.sandbox.sandbox import Sandbox
from stoker.template.evaluate.evaluation import Evaluation


def graph_of_template(
    template: Path | str,
    environments: Iterable[Path | str],
    parameters: Mapping[str, str],
    depth: int,
) -> tuple[Graph, int]:
    """Return the graph of a template and its nested ones, and the number of its errors.

    Parameters without a value are assumed to get valid ones, and conditions on them to be true.
    Raise :class:`stoker.cli.console.findings.DocumentError` for documents without a structure.
    """
    sent = bundle(template, environments)
    if sent.missing:
        raise DocumentError(sent.missing, sent.texts())
    helpers = Sandbox(size=1)
    try:
        evaluation = OfflineTemplate.of(sent, parameters, helpers).evaluation(True)
        nodes = _nodes(evaluation, 0, depth)
        errors = [each for each in evaluation.validate().errors if each.code != "missing-parameter"]
    except DiagnosticError as error:
        found = [finding_in(each, sent) for each in error.diagnostics]
        raise DocumentError(found, sent.texts()) from None
    finally:
        helpers.close()
    return Graph(str(template), nodes), len(errors)


def _nodes(evaluation: Evaluation, level: int, depth: int) -> tuple[Node, ...]:
    found = []
    order = {name: number for number, name in enumerate(evaluation.names)}
    for name in evaluation.names:
        child = evaluation.children.get(name)
        inside = () if child is None else _nodes(child, level + 1, depth)
        is_open = bool(inside) and level < depth
        requires = evaluation.dependencies.get(name, frozenset())
        found.append(
            Node(
                name,
                evaluation.type_names[name],
                requires=tuple(sorted(requires & order.keys(), key=order.__getitem__)),
                inner=Graph(name, inside) if is_open else None,
                counts=count_statuses(inside) if not is_open else {},
            )
        )
    return tuple(found)
