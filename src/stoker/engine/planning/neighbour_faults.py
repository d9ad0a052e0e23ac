"""Resources that a service rejects because of other resources of the template.

Takes an evaluation with its nested stacks, and returns diagnostics. The rules are methods of the
resource types. The cloud is asked only if a fault depends on an extension of its network service.
Tested by tests/operations/test_neighbour_faults.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Stack
from stoker.engine.planning.presence import Presence
from stoker.kernel.diagnostics import Diagnostic
from stoker.kernel.errors import NOT_SUPPORTED
from stoker.schema.resource_type import Impossible, JudgesNeighbours, can
from stoker.schema.resource_type.neighbours import Neighbours
from stoker.template.evaluate.evaluation import Evaluation, in_nested

_SERVICE = "network"  # which has the extensions


async def neighbour_diagnostics(
    ports: Ports,
    stack: Stack,
    evaluation: Evaluation,
    present: Presence,
    needed: Collection[str],
) -> list[Diagnostic]:
    """Return diagnostics about resources that the cloud certainly rejects.

    ``needed`` are the :func:`needed_extensions`.
    """
    extensions = sorted(filter(None, needed))
    absent: set[str] = set()
    if extensions:
        required = [(_SERVICE, name) for name in extensions]
        lacking = await ports.workers.run("catalog", lambda: ports.clouds.lacking(stack, required))
        absent = {
            name for name, reason in zip(extensions, lacking, strict=True) if reason is not None
        }
    return await ports.workers.compute(lambda: [*_located(evaluation, present, absent)])


def needed_extensions(evaluation: Evaluation, present: Presence) -> set[str]:
    """Return the extensions that faults of a tree depend on; "" for a fault without one.

    The result is empty if there are no faults.
    """
    found = {fault.extension for _, fault in _faults(evaluation, present)}
    for name, child in evaluation.children.items():
        found |= needed_extensions(child, present.below(evaluation, name))
    return found


def _located(
    evaluation: Evaluation, present: Presence, absent: Collection[str]
) -> Iterator[Diagnostic]:
    template = evaluation.template
    for name, fault in _faults(evaluation, present):
        if fault.extension not in absent:
            base = (*template.resources[name].path, template.version.dialect.properties)
            found = Diagnostic(
                "impossible", fault.message, (*base, *fault.path), error_type=NOT_SUPPORTED
            )
            yield template.source.located(found)
    for name, child in evaluation.children.items():
        below = [*_located(child, present.below(evaluation, name), absent)]
        yield from in_nested(evaluation, name, below)


def _faults(evaluation: Evaluation, present: Presence) -> Iterator[tuple[str, Impossible]]:
    """Yield the faults of a template itself, with the resource of each."""
    judging = {type_ for type_ in {*evaluation.types.values()} if can(type_, JudgesNeighbours)}
    if not judging:
        return
    judges = [name for name, type_ in evaluation.types.items() if type_ in judging]
    known = {name: each.definition for name, each in evaluation.analyses.items() if each.definition}
    others = Neighbours(
        {
            name: (
                definition.type.support.substitute or definition.type.type_name,
                definition.properties if definition.external_id is None else {},
            )
            for name, definition in known.items()
        }
    )
    existing = present.names(evaluation)
    for name in judges:
        definition = known.get(name)
        if definition is None or definition.external_id is not None:
            continue
        assert can(definition.type, JudgesNeighbours)
        for fault in definition.type.impossible_beside(definition.properties, others, existing):
            yield name, fault
