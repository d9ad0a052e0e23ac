"""YAML tags: short forms of CloudFormation's functions, and types of YAML itself.

Templates are stored and returned as JSON, which has no sets, pairs or octets: they become lists and
text on reading.
"""

from __future__ import annotations

import difflib
import re
from base64 import b64decode
from typing import Any

_OWN = "tag:yaml.org,2002:"
TAGS = frozenset(_OWN + name for name in ("binary", "omap", "pairs", "set"))


def plain_value(tag: str, value: Any) -> Any:
    """Return the plain value of a tagged one. Raise ``ValueError`` if the tag does not fit it."""
    match tag.removeprefix(_OWN), value:
        case "set", dict():
            return list(value)
        case "binary", str():
            return _text(value)
        case (("omap" | "pairs"), list()) if all(map(_is_pair, value)):
            return [list(*entry.items()) for entry in value]
    forms = {"set": "a set is a map of nothing", "binary": "base 64 is text"}
    raise ValueError(forms.get(tag.removeprefix(_OWN), "pairs are a list of maps of one key"))


def _is_pair(entry: Any) -> bool:
    return isinstance(entry, dict) and len(entry) == 1


def _text(encoded: str) -> str:
    try:
        return b64decode("".join(encoded.split()), validate=True).decode()
    except ValueError:
        raise ValueError("this is not UTF-8 text in base 64") from None


_SHORT = frozenset(
    {
        "And", "Base64", "Cidr", "Equals", "FindInMap", "GetAZs", "GetAtt", "If", "ImportValue",
        "Join", "Length", "MemberListToMap", "Not", "Or", "Replace", "ResourceFacade", "Select",
        "Split", "Sub", "ToJsonString",
    }
)  # fmt: skip


_CLOSE = 0.75  # minimal similarity of an unknown tag to a suggested one


def advice_on_tag(tag: str, value: Any) -> str | None:
    """Return the advice on an unknown tag."""
    name = tag.removeprefix("!").removeprefix("Fn::")
    spelt = {known.lower(): known for known in (*_SHORT, "Condition", "Ref")}
    near = difflib.get_close_matches(name.lower(), spelt, n=1, cutoff=_CLOSE)
    if near:
        return f'did you mean "!{spelt[near[0]]}"?'
    if re.fullmatch("[a-z]+(_[a-z]+)+", name):
        return f"write {{{name}: ...}}: only functions of CloudFormation have tags"
    return 'put text that begins with "!" into quotes' if isinstance(value, str) else None


def short_tag(tag: str, value: Any) -> dict[str, Any] | None:
    """Return the function call that a tag such as ``!Sub`` abbreviates, or None."""
    name = tag.removeprefix("!")
    if tag == name:
        return None
    if name in ("Ref", "Condition"):
        return {name: value}
    if name == "GetAtt" and isinstance(value, str):
        resource, _, attribute = value.partition(".")
        value = [resource, attribute]
    return {f"Fn::{name}": value} if name in _SHORT else None
