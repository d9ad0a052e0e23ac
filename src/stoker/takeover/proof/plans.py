"""Plans an update of each stack with its own template, environment and files.

Such an update must change nothing. The retry of a resource that failed in Heat is a remark: the
take-over did not cause it.
"""

from __future__ import annotations

from collections.abc import Iterator

from stoker.engine.model.plans import Reason
from stoker.engine.model.records import Stack
from stoker.engine.model.requests import StackRequest
from stoker.engine.model.views import ChangeView
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import RequestError
from stoker.takeover.proof.report import Finding
from stoker.takeover.proof.service import ProofService

_RETRY = frozenset({Reason.FAILED, Reason.UNFINISHED, Reason.UNHEALTHY, Reason.DELETED})
_AS_HEAT = "an update does the same in Heat"
_MOST = 20  # changes of one stack in the report


async def planned_changes(proof: ProofService, stack: Stack) -> list[Finding]:
    """Return the findings about the plan for a root stack."""
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
    found = list(_findings(plan.changes))
    if len(found) <= _MOST:
        return found
    more = Finding("plan", f"{len(found) - _MOST} more changes", is_blocking=True)
    return [*found[:_MOST], more]


def _findings(changes: tuple[ChangeView, ...]) -> Iterator[Finding]:
    for change in changes:
        if change.change == "unchanged" or change.inside is not None:
            continue  # the changes inside a nested stack have lines of their own
        path = ".".join(change.path)
        if change.cause in _RETRY and not change.changed_properties:
            status = f"{change.resource.action}_{change.resource.status}"
            yield Finding("plan", f"{path} is {status}: an update retries it", _AS_HEAT)
            continue
        yield Finding(
            "plan",
            f"{path} would be {change.change}: {_reason(change)}",
            "report it with the type and the property; until then, leave the stack in Heat",
            is_blocking=True,
        )


def _reason(change: ChangeView) -> str:
    if not change.changed_properties:
        return str(change.cause)
    return "; ".join(
        f"{each.name} from {each.old!r} to {each.new!r}" for each in change.changed_properties
    )
