"""Recording new stacks, with the credentials by which they act."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stoker.engine.model.change_sets import ChangeSetChange, Protection
from stoker.engine.model.interfaces import Guard, Ports, PublicChange, StoreError, TransactionReader
from stoker.engine.model.kinds import ChangeRequest
from stoker.engine.model.records import Action, Stack
from stoker.engine.model.requests import Caller, StackRequest
from stoker.engine.model.stack_policy import read_policy
from stoker.engine.planning.permissions import OWNER, owner_facts
from stoker.engine.service.requests.evaluate import NewStack, description_of, evaluated_in_review
from stoker.engine.service.requests.plan_fingerprints import require_create
from stoker.engine.service.stack_access.guards import (
    is_in_review,
    live,
    most_stacks,
    require_room,
    token_is_unused,
)
from stoker.engine.service.stack_access.shared_values import export_names, require_shared
from stoker.kernel.errors import PlanOutdatedError, UnavailableError
from stoker.kernel.values import replace

_ATTEMPTS = 5


class _TrustRevokedError(Exception):
    """The last stack that acted by the credentials has ended since they were granted."""


async def record(
    ports: Ports, caller: Caller, made: NewStack, change_of: Callable[[Stack], PublicChange]
) -> Stack:
    """Commit a new stack by the change that ``change_of`` makes of it.

    Its credentials are given back where it is certain that it was not recorded.
    """
    stack, given, evaluation = made
    ports.kept.put(given.id, evaluation)
    for _ in range(_ATTEMPTS):
        credentials = await ports.deferred.grant(caller)
        stack = replace(
            stack, input_id=given.id, credentials={**credentials, OWNER: owner_facts(caller)}
        )
        try:
            await ports.store.commit(_with_credentials(change_of(stack), credentials))
        except StoreError:
            raise  # perhaps the stack was recorded, and needs its credentials
        except _TrustRevokedError:
            ports.deferred.forget(credentials)
        except Exception:
            await ports.deferred.revoke(credentials)
            raise
        else:
            return stack
    raise UnavailableError(
        "The trust of this user is removed as fast as it is made. Repeat the request in a minute."
    )


def _with_credentials(change: PublicChange, credentials: Mapping[str, Any]) -> PublicChange:
    def guard(inside: TransactionReader) -> None:
        if not inside.may_act_by(credentials):
            raise _TrustRevokedError

    return replace(change, guards=(*change.guards, guard))


def room_for(ports: Ports, caller: Caller) -> Guard:
    """What checks that the caller's project may have one more stack."""
    most = most_stacks(ports.limits, caller)

    def guard(inside: TransactionReader) -> None:
        if most is not None:
            require_room(inside.count_stacks(caller.project_id), most)

    return guard


async def guard_of_new(ports: Ports, caller: Caller, made: NewStack) -> Guard:
    """What checks that a new stack may be recorded, and may export what it will."""
    stack, given, evaluation = made
    room, exported = room_for(ports, caller), await export_names(ports, evaluation)

    def guard(inside: TransactionReader) -> None:
        room(inside)
        require_shared(inside, stack, given, exported)

    return guard


def protection_of(stack: Stack, request: StackRequest) -> tuple[Protection, ...]:
    """What protects a new stack from its beginning. Raises Invalid for what is no policy."""
    if not request.keeps and request.stack_policy is None:
        return ()
    policy = {} if request.stack_policy is None else read_policy(request.stack_policy)
    return (Protection(stack.id, request.keeps, policy),)


async def make_reviewed(
    ports: Ports, caller: Caller, stack: Stack, request: StackRequest, change_set_id: str
) -> None:
    """Start making a stack that has only had change sets so far, as one of them says.

    Raises PlanOutdatedError where its plan does not hold any more.
    """
    fingerprint = request.plan_fingerprint
    assert fingerprint is not None
    given, evaluation = await evaluated_in_review(ports, caller, stack, request)
    await ports.workers.compute(lambda: require_create(fingerprint, given, evaluation))
    exported = await export_names(ports, evaluation)
    disable_rollback = request.disable_rollback is not False
    settings = {
        "description": description_of(evaluation),
        "disable_rollback": disable_rollback,
        "timeout_mins": request.timeout_mins,
        "tags": request.tags or (),
    }
    deletes = request.deletes_on_failure
    rollback = not disable_rollback and not deletes
    asked = ChangeRequest(rollback=rollback, deletes=deletes, settings=settings)
    stack = replace(stack, timeout_mins=request.timeout_mins)
    operation = ports.operation_on(stack, Action.CREATE, asked, given.id, caller=caller)
    ports.kept.put(given.id, evaluation)

    def guard(inside: TransactionReader) -> None:
        if not is_in_review(live(inside, stack)):
            raise PlanOutdatedError(f"the stack {stack.name} has been created in the meantime")
        require_shared(inside, stack, given, exported)

    change = PublicChange(
        stack.id,
        inputs=(given,),
        operations=(operation,),
        change_sets=ChangeSetChange(executed=(change_set_id, operation.id)),
        protections=protection_of(stack, request),
        guards=(token_is_unused(caller), guard),
    )
    await ports.store.commit(change)
