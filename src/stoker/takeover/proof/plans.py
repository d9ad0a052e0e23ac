"""Plans an update of each stack with its own template, environment and files.

Such an update must change nothing. In a stack that failed in Heat it retries failed resources, and
changes those that the failed operation did not reach. These changes are remarks, because the
take-over did not cause them.
"""

from __future__ import annotations

from collections.abc import Collection

from stoker.engine.model.plans import Reason
from stoker.engine.model.records import Stack, Status
from stoker.engine.model.requests import StackRequest
from stoker.engine.model.views import ChangeView
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import RequestError
from stoker.takeover.proof.report import Finding
from stoker.takeover.proof.service import ProofService

_RETRY = frozenset({Reason.FAILED, Reason.UNFINISHED, Reason.UNHEALTHY, Reason.DELETED})
# Consequences of resources that are created or replaced.
_FOLLOWING = frozenset(
    {Reason.NEW, Reason.DEPENDENCY, Reason.UNKNOWN, Reason.REPLACED, Reason.NOT_WANTED}
)
_AS_HEAT = "an update does the same in Heat"
_MOST = 20  # changes of one stack in the report


async def planned_changes(
    proof: ProofService, stack: Stack, left_behind: Collection[tuple[str, ...]]
) -> list[Finding]:
    """Return the findings about the plan for a root stack.

    ``left_behind`` are the paths of resources that the last operation in Heat did not reach.
    """
    request = StackRequest(existing=True)
    try:
        plan = await proof.service.previews.update(
            proof.caller, stack.address, request, show_nested=True
        )
    except DiagnosticError as refused:
        message = refused.diagnostics[0].message
        reason = f"an update with its own template is refused: {message}"
        return [Finding("plan", reason, "correct the template or the cloud", is_blocking=True)]
    except RequestError as refused:
        reason = f"an update cannot be planned: {refused.message}"
        return [Finding("plan", reason, "see the reason", is_blocking=True)]
    is_failed = stack.status is Status.FAILED
    found = [_finding(each, is_failed, left_behind) for each in plan.changes if _is_change(each)]
    if len(found) <= _MOST:
        return found
    more = Finding("plan", f"{len(found) - _MOST} more changes", is_blocking=True)
    return [*found[:_MOST], more]


def _is_change(change: ChangeView) -> bool:
    # The changes inside a nested stack have lines of their own.
    is_nested_only = change.inside is not None and not change.changed_properties
    return change.change != "unchanged" and not is_nested_only


def _finding(
    change: ChangeView, is_failed: bool, left_behind: Collection[tuple[str, ...]]
) -> Finding:
    path = ".".join(change.path)
    if change.cause in _RETRY and not change.changed_properties:
        status = f"{change.resource.action}_{change.resource.status}"
        return Finding("plan", f"{path} is {status}: an update retries it", _AS_HEAT)
    reason = f"{path} would be {change.change}: {_reason(change)}"
    prefixes = (change.path[:end] for end in range(1, len(change.path) + 1))
    is_left = change.cause in _FOLLOWING or any(prefix in left_behind for prefix in prefixes)
    if is_failed and is_left:
        return Finding("plan", reason, f"the last operation has failed; {_AS_HEAT}")
    remedy = "report it with the type and the property; until then, leave the stack in Heat"
    return Finding("plan", reason, remedy, is_blocking=True)


def _reason(change: ChangeView) -> str:
    if not change.changed_properties:
        return str(change.cause)
    return "; ".join(
        f"{each.name} from {each.old!r} to {each.new!r}" for each in change.changed_properties
    )
