"""Constraints that only the cloud can check: the existence of named objects.

Takes an evaluation, and returns diagnostics about values that the cloud does not have. Requests
check the whole tree; the driver checks a nested stack again when it starts, because more of its
values are known by then. Each distinct value is sent to the cloud once.

The cloud must answer for values of the template itself. Values of nested stacks are rejected only
if the cloud certainly lacks them: a slow cloud must not reject a request.

Tested by tests/operations/test_nested_constraints.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Stack
from stoker.engine.model.secrets import masking_of
from stoker.engine.planning.presence import Presence
from stoker.kernel.diagnostics import Diagnostic
from stoker.kernel.values import replace
from stoker.template.definition import CustomCheck
from stoker.template.evaluate.evaluation import Evaluation, in_nested, in_tree

_PARAMETERS = ("parameters", "Parameters")  # the section in HOT and in CloudFormation templates
_MOST_NESTED = 1_000  # distinct values of nested stacks that a request checks

# Checks constraints in the cloud. Returns None, or the fault of the value, for each.
Ask = Callable[[Stack, Sequence[CustomCheck]], Sequence[str | None]]
Key = tuple[str, str]  # a constraint, and the representation of a value
Faults = Mapping[Key, str]


async def constraint_diagnostics(
    ports: Ports, stack: Stack, evaluation: Evaluation, ask: Ask
) -> list[Diagnostic]:
    """Return diagnostics about values of a template that a cloud does not have."""
    faults = await _faults(ports, stack, evaluation.custom_checks(), ask)
    if not faults:
        return []
    return await ports.workers.compute(lambda: _of_template(evaluation, faults))


async def tree_diagnostics(
    ports: Ports,
    stack: Stack,
    evaluation: Evaluation,
    present: Presence,
    below: Sequence[CustomCheck],
) -> list[Diagnostic]:
    """Return diagnostics about values of a template, and of the nested stacks known in advance.

    ``below`` are the :func:`nested_checks`. A value that a nested stack had before is accepted: its
    flavor or image may have been deleted since the resource was created, and the resource still
    stays as it is.
    """
    own = await _faults(ports, stack, evaluation.custom_checks(), ports.clouds.check)
    nested = await _faults(ports, stack, below, ports.clouds.known_faults)
    if not own and not nested:
        return []

    def located() -> list[Diagnostic]:
        # An object that the tree creates may exist by the time that a nested stack starts.
        created = set(map(repr, _names_in(evaluation))) if nested else set()
        faults = {**own, **{key: each for key, each in nested.items() if key[1] not in created}}
        found = _of_template(evaluation, faults)
        return [*found, *_below(evaluation, present, faults, ())]

    return await ports.workers.compute(located)


async def _faults(ports: Ports, stack: Stack, checks: Sequence[CustomCheck], ask: Ask) -> Faults:
    if not checks:
        return {}
    verdicts = await ports.workers.run("identity", lambda: ask(stack, checks))
    return {_key(check): fault for check, fault in zip(checks, verdicts, strict=True) if fault}


def _key(check: CustomCheck) -> Key:
    return check.constraint, repr(check.value)


def nested_checks(evaluation: Evaluation) -> list[CustomCheck]:
    """Return a check for each distinct value of nested stacks that the template does not have."""
    if not evaluation.children:
        return []
    known = set(map(_key, evaluation.custom_checks()))
    found: dict[Key, CustomCheck] = {}
    waiting = [*evaluation.children.values()]
    while waiting and len(found) < _MOST_NESTED:
        child = waiting.pop()
        waiting += child.children.values()
        found.update(
            (key, each) for each in child.custom_checks() if (key := _key(each)) not in known
        )
    return [*found.values()][:_MOST_NESTED]


def _names_in(evaluation: Evaluation) -> Iterator[str]:
    """Yield the names that a tree gives to objects."""
    for each in in_tree(evaluation):
        for analysis in each.analyses.values():
            definition = analysis.definition
            name = None if definition is None else definition.properties.get("name")
            if isinstance(name, str):
                yield name


def _below(
    evaluation: Evaluation, present: Presence, faults: Faults, above: Collection[str]
) -> Iterator[Diagnostic]:
    """Yield diagnostics about nested stacks. ``above`` has faults that are reported already."""
    for name, child in evaluation.children.items():
        inside = present.below(evaluation, name)
        before = inside.earlier
        accepted = frozenset(() if before is None else map(_place, before.custom_checks()))
        # The value that a nested stack gets is reported where it is written.
        of_values = _known_faults(evaluation.analyses[name].custom_checks, faults)
        known = {*above, *_of_parameters(evaluation, faults), *of_values}
        found = _of_template(child, faults, known, accepted)
        yield from in_nested(evaluation, name, [*found, *_below(child, inside, faults, known)])


def _of_template(
    evaluation: Evaluation,
    faults: Faults,
    above: Collection[str] = (),
    accepted: Collection[tuple[object, ...]] = (),
) -> list[Diagnostic]:
    """Return the diagnostics about a template itself, without those of nested stacks."""
    own = _of_parameters(evaluation, faults)
    found = []
    for check in evaluation.custom_checks():
        fault = faults.get(_key(check))
        # A property that gets the value of a rejected parameter would only repeat the fault.
        repeats = fault in above or (fault in own and check.path[0] not in _PARAMETERS)
        if fault is not None and not repeats and _place(check) not in accepted:
            found.append(Diagnostic("not-in-cloud", _explained(check, fault), check.path))
    if not found:
        return []
    masking = masking_of(evaluation)
    masked = (replace(each, message=masking.text(each.message)) for each in found)
    return [*evaluation.template.source.all_located(masked)]


def _of_parameters(evaluation: Evaluation, faults: Faults) -> set[str]:
    """Return the faults of the values of parameters."""
    return _known_faults(evaluation.resolved.parameters.custom_checks, faults)


def _known_faults(checks: Iterable[CustomCheck], faults: Faults) -> set[str]:
    return {fault for check in checks if (fault := faults.get(_key(check))) is not None}


def _place(check: CustomCheck) -> tuple[object, ...]:
    return (*_key(check), check.path)


def _explained(check: CustomCheck, fault: str) -> str:
    """Return a fault with the template's description of the constraint."""
    return f"{fault}; {check.description}" if check.description else fault
