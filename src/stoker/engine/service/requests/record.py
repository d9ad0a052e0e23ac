"""Records new stacks, with credentials for deferred work.

Takes a change that adds stacks without credentials: one, or several of a refactor. Grants
credentials (for instance a trust), adds them to the stacks, and commits the change. If the stacks
are not recorded, the credentials are revoked, unless it is unknown whether they were recorded.

Called for creates, adoptions and first change sets. Tested by tests/isolation/test_trusts.py and
tests/identity/test_trusts.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from stoker.engine.model.interfaces import Ports, PublicChange, StoreError, TransactionReader
from stoker.engine.model.records import Stack
from stoker.engine.model.requests import Caller
from stoker.engine.planning.permissions import OWNER, owner_facts
from stoker.kernel.errors import UnavailableError
from stoker.kernel.values import replace

_ATTEMPTS = 5


class _TrustRevokedError(Exception):
    """The last other stack with the credentials was deleted after they were granted."""


async def record_new_stack(ports: Ports, caller: Caller, change: PublicChange) -> None:
    """Commit a change with new stacks, which act for the caller from now on.

    Raises the errors of the change's guards, and UnavailableError if the user's trusts are revoked
    on every attempt.
    """
    roots = {
        record.id
        for record in change.puts
        if isinstance(record, Stack) and record.parent_id is None
    }
    for _ in range(_ATTEMPTS):
        credentials = await ports.deferred.grant(caller)
        stored = {**credentials, OWNER: owner_facts(caller)}
        check = partial(_require_credentials, credentials=credentials)
        puts = [
            replace(record, credentials=stored)
            # Nested stacks of an existing tree act as that does.
            if isinstance(record, Stack) and (record.root_id or record.id) in roots
            else record
            for record in change.puts
        ]
        attempt = replace(change, puts=puts, guards=(*change.guards, check))
        try:
            await ports.store.commit(attempt)
        except StoreError:
            raise  # The stack may be recorded. It needs its credentials then.
        except _TrustRevokedError:
            # Stacks of one user share a trust. The deletion of the last other one revoked it.
            ports.deferred.forget(credentials)
        except Exception:
            await ports.deferred.revoke(credentials)
            raise
        else:
            return
    raise UnavailableError(
        "The trust of this user is removed as fast as it is made. Repeat the request in a minute."
    )


def _require_credentials(inside: TransactionReader, *, credentials: Mapping[str, Any]) -> None:
    if not inside.may_act_by(credentials):
        raise _TrustRevokedError
