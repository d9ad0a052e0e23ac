"""Policies: the decision about a request."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath

import regex
from msgspec import Struct

from localcloud.core.store import Document

_MATCH_SECONDS = 0.05  # how long a regular expression of a user may be looked for


class Asked(Struct, frozen=True):
    """A request, as rules see it."""

    target: str  # path and query
    headers: Mapping[str, str]  # by names in lower case

    @property
    def path(self) -> str:
        """Return the path without the query."""
        return self.target.partition("?")[0]

    def cookies(self) -> dict[str, str]:
        """Return the cookies."""
        pairs = (part.partition("=") for part in self.headers.get("cookie", "").split(";"))
        return {name.strip(): value.strip() for name, _, value in pairs if name.strip()}


class Policy(Struct, frozen=True):
    """A policy with its rules."""

    document: Document
    rules: Sequence[Document]

    def matches(self, asked: Asked) -> bool:
        """Return whether a request fulfils all rules; a policy without rules is for none."""
        rules = [rule for rule in self.rules if rule["admin_state_up"]]
        return bool(rules) and all(_fulfils(rule, asked) for rule in rules)

    def location(self, asked: Asked) -> str | None:
        """Return where clients are sent, None where they are not sent anywhere."""
        if self.document["redirect_url"]:
            return str(self.document["redirect_url"])
        prefix = self.document["redirect_prefix"]
        return f"{prefix.rstrip('/')}{asked.target}" if prefix else None


_COMPARISONS: dict[str, Callable[[str, str], bool]] = {
    "STARTS_WITH": lambda found, value: found.startswith(value),
    "ENDS_WITH": lambda found, value: found.endswith(value),
    "CONTAINS": lambda found, value: value in found,
    "EQUAL_TO": lambda found, value: found == value,
    "REGEX": lambda found, value: _is_found(value, found),
}


def _is_found(pattern: str, text: str) -> bool:
    try:
        return regex.search(pattern, text, timeout=_MATCH_SECONDS) is not None
    except TimeoutError:
        # A pattern that backtracks for too long would block the event loop.
        return False


def _fulfils(rule: Document, asked: Asked) -> bool:
    found, value = _looked_at(rule, asked), rule["value"]
    if rule["type"] in ("HOST_NAME", "FILE_TYPE"):
        found = None if found is None else found.lower()
        value = value.lower()
    fulfilled = found is not None and _COMPARISONS[rule["compare_type"]](found, value)
    return bool(fulfilled != rule["invert"])


def _looked_at(rule: Document, asked: Asked) -> str | None:
    kind = rule["type"]
    if kind == "HOST_NAME":
        host = asked.headers.get("host", "")
        # A trailing bracket ends an IPv6 address without a port, whose colons are no separators.
        return host if host.endswith("]") else host.rpartition(":")[0] or host
    if kind == "PATH":
        return asked.path
    if kind == "FILE_TYPE":
        return PurePosixPath(asked.path).suffix.removeprefix(".")
    if kind == "HEADER":
        return asked.headers.get(rule["key"].lower())
    return asked.cookies().get(rule["key"])
