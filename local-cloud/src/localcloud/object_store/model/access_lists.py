"""Lists of who may read and write a container: ``.r:*``, ``.rlistings``, ``project:user``."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from msgspec import Struct

from localcloud.object_store.errors import ObjectStoreError
from localcloud.web.http import RequestContext

_REFERRERS = (".r", ".ref", ".referer", ".referrer")
_DEFAULT_DOMAIN = "default"


def cleaned(header: str, value: str) -> str:
    """Return a list in its normal form; raises :class:`ObjectStoreError` for an invalid one."""
    terms = []
    for term in filter(None, (part.strip() for part in value.split(","))):
        first, colon, second = (part.strip() for part in term.partition(":"))
        if not colon or not first.startswith("."):
            terms.append(term)
        elif first not in _REFERRERS:
            raise ObjectStoreError(400, f"{header}: Unknown designator {first!r} in ACL: {term!r}")
        elif "write" in header:
            raise ObjectStoreError(400, f"{header}: Referrers not allowed in write ACL: {term!r}")
        else:
            host = second.removeprefix("-").strip()
            if host != "*":
                host = host.removeprefix("*").strip()
            if host in ("", "."):
                raise ObjectStoreError(
                    400,
                    f"{header}: No host/domain value after referrer designation in ACL: {term!r}",
                )
            terms.append(f".r:{'-' if second.startswith('-') else ''}{host}")
    return ",".join(terms)


class AccessList(Struct, frozen=True):
    """A list, taken apart."""

    referrers: Sequence[str]
    names: Sequence[str]  # roles, `project:user` and `.rlistings`

    @staticmethod
    def parse(value: str) -> "AccessList":
        """Read a list in its plain form."""
        terms = [term for term in value.split(",") if term]
        referrers = [term.removeprefix(".r:") for term in terms if term.startswith(".r:")]
        return AccessList(referrers, [term for term in terms if not term.startswith(".r:")])

    def allows_anybody(self, referrer: str, *, listing: bool) -> bool:
        """Return True if requests with this referrer may read, or list."""
        if listing and ".rlistings" not in self.names:
            return False
        host, allowed = urlsplit(referrer).hostname or "unknown", False
        for rule in self.referrers:
            pattern = rule.removeprefix("-")
            if pattern in ("*", host) or (pattern.startswith(".") and host.endswith(pattern)):
                allowed = not rule.startswith("-")
        return allowed

    def names_user(self, who: RequestContext) -> bool:
        """Return whether the list names the user, by project and user or by a star for either."""
        users, projects = {"*", who.user_id}, {"*", who.project_id}
        if who.user_domain_id == who.project_domain_id == _DEFAULT_DOMAIN:
            # Elsewhere names may belong to several.
            users.add(who.user_name.encode().decode("latin-1"))
            projects.add(who.project_name.encode().decode("latin-1"))
        pairs = (name.partition(":") for name in self.names if ":" in name)
        return any(project in projects and user in users for project, _, user in pairs)

    def names_role(self, who: RequestContext) -> bool:
        """Return whether the list names a role of the user."""
        return not {role.lower() for role in who.roles}.isdisjoint(n.lower() for n in self.names)
