"""Access to objects: the project that owns an account, access lists, temporary URLs."""

from typing import Literal
from urllib.parse import quote

from localcloud.object_store.api.call import Call
from localcloud.object_store.errors import ObjectStoreError
from localcloud.object_store.model.access_lists import AccessList
from localcloud.object_store.model.records import ACCOUNT_PREFIX, Records

Right = Literal["read", "write"]
_OPERATORS = frozenset({"admin", "manager", "member", "swiftoperator"})
_RESELLER = "reselleradmin"
_READING = ("GET", "HEAD")


class Access:
    """Decides on calls."""

    def __init__(self, records: Records) -> None:
        self._records = records

    @staticmethod
    def is_reseller(call: Call) -> bool:
        """Return whether the caller may do everything in all accounts."""
        return call.who is not None and _RESELLER in _roles(call)

    def is_owner(self, call: Call, account: str = "") -> bool:
        """Return whether the caller may change everything in an account (default: the call's)."""
        at_home = _is_at_home(call, account or call.account)
        return self.is_reseller(call) or (at_home and not _OPERATORS.isdisjoint(_roles(call)))

    def require_owner(self, call: Call) -> None:
        """Raise :class:`ObjectStoreError` unless the account is the caller's; readers may read
        it.
        """
        reads = call.method in _READING and _reads_at_home(call, call.account)
        if call.grant is not None or not (reads or self.is_owner(call)):
            raise _denied(call)

    def require(
        self, call: Call, right: Right, container_id: str, *, listing: bool = False
    ) -> None:
        """Raise :class:`ObjectStoreError` unless the caller has the right to the content of a
        container.
        """
        if not self.allows(call, right, container_id, listing=listing):
            raise _denied(call)

    def allows(self, call: Call, right: Right, container_id: str, *, listing: bool = False) -> bool:
        """Return whether the caller has the right to the content of a container."""
        if call.grant is not None:
            # Who may only write reads nothing, as the source of a copy.
            is_fit = (right == "read") == (call.method in _READING)
            return is_fit and f"{container_id}/".startswith(f"{call.grant.scope}/")
        account = container_id.partition("/")[0]
        if self.is_owner(call, account) or (right == "read" and _reads_at_home(call, account)):
            return True
        container = self._records.containers.get(container_id)
        rules = AccessList.parse(container["access"].get(right, "") if container else "")
        if rules.allows_anybody(call.headers.get("referer", ""), listing=listing):
            return True
        if call.who is None:
            return False
        by_role = _is_at_home(call, account) and rules.names_role(call.who)
        return by_role or rules.names_user(call.who)


def _roles(call: Call) -> set[str]:
    return {role.lower() for role in call.who.roles} if call.who else set()


def _is_at_home(call: Call, account: str) -> bool:
    who = call.who
    return who is not None and account == f"{ACCOUNT_PREFIX}{who.project_id}"


def _reads_at_home(call: Call, account: str) -> bool:
    return _is_at_home(call, account) and "reader" in _roles(call)


def _denied(call: Call) -> ObjectStoreError:
    if call.who is None:
        return ObjectStoreError(
            401, headers={"WWW-Authenticate": f'Swift realm="{quote(call.account)}"'}
        )
    return ObjectStoreError(403)
