"""Checks whether the cloud can carry out a request, before anything is recorded.

Takes an evaluation without errors, and the resources that exist already. Raises all errors that the
cloud and the limits of the service show in advance, for the template and its nested stacks. The
parts of the evaluation to be checked are collected on one thread, so that a small request does not
pay for each kind of check.

Called for each create, update and preview. Tested by tests/operations/test_requests.py,
test_sizes.py, test_nested_constraints.py, test_neighbour_faults.py and test_obstacles.py.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Stack
from stoker.engine.model.secrets import masking_of
from stoker.engine.planning.constraints import (
    constraint_diagnostics,
    nested_checks,
    tree_diagnostics,
)
from stoker.engine.planning.neighbour_faults import needed_extensions, neighbour_diagnostics
from stoker.engine.planning.presence import Presence
from stoker.engine.planning.sizes import require_resources
from stoker.engine.service.requests.fetch import EvaluatedInput
from stoker.engine.service.requests.obstacles import (
    NewResource,
    obstacle_diagnostics,
    searchable,
)
from stoker.engine.service.stack_access.availability import require_services
from stoker.kernel.diagnostics import Diagnostic
from stoker.kernel.values import replace
from stoker.template.definition import CustomCheck
from stoker.template.evaluate.evaluation import Evaluation, in_tree
from stoker.template.evaluate.nested_stacks import with_places


class _Pending(Struct, frozen=True):
    """Parts of an evaluation that the cloud or a limit has to confirm."""

    resources: int  # with those of nested stacks
    nested: Sequence[CustomCheck]
    extensions: Collection[str]
    searchable: Sequence[NewResource]


async def require_feasible(
    ports: Ports,
    stack: Stack,
    found: EvaluatedInput,
    present: Presence,
    *,
    adopts: bool,
) -> None:
    """Raise DiagnosticError or RequestError for a request that cannot succeed.

    ``adopts`` is true if all objects exist.
    """
    evaluation, findings = found.evaluation, found.findings
    pending = await ports.workers.compute(lambda: _pending(evaluation, present))
    if (most := ports.limits.resources_per_stack) >= 0:
        require_resources(most, pending.resources)
    await require_services(ports, stack, evaluation)
    if adopts:
        # The objects of nested stacks exist, whatever became of their flavors and images.
        check = ports.clouds.check
        findings.extend(await constraint_diagnostics(ports, stack, evaluation, check))
        findings.raise_errors()
        return
    faults: list[Diagnostic] = []
    if pending.extensions:
        faults += await neighbour_diagnostics(ports, stack, evaluation, present, pending.extensions)
    faults += await tree_diagnostics(ports, stack, evaluation, present, pending.nested)
    if faults:
        await _report(ports, found, faults)
    # Names of absent objects are reported above. A search would fail at them.
    if pending.searchable:
        faults = await obstacle_diagnostics(ports, stack, evaluation, pending.searchable)
        await _report(ports, found, faults)


async def _report(ports: Ports, found: EvaluatedInput, faults: Sequence[Diagnostic]) -> None:
    """Add faults to the findings, with their nested stacks and without secrets; raise errors."""

    def shown() -> Sequence[Diagnostic]:
        masking = masking_of(found.evaluation)
        masked = (replace(each, message=masking.text(each.message)) for each in faults)
        return with_places(masked)

    found.findings.extend(await ports.workers.compute(shown))
    found.findings.raise_errors()


def _pending(evaluation: Evaluation, present: Presence) -> _Pending:
    return _Pending(
        sum(len(each.names) for each in in_tree(evaluation)),
        nested_checks(evaluation),
        needed_extensions(evaluation, present),
        searchable(evaluation, present),
    )
