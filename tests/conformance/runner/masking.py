"""Replaces the texts that change from run to run (ids, names, times, addresses) by fixed words."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?")
_HEX = re.compile(r"\b[0-9a-f]{32}\b(?=[\"/' :),.]|$)")
_SUFFIX = re.compile(r"(?<!-[0-9a-f]{4})-[a-z2-7]{12}(?![a-z0-9])")
_TRACEBACK = re.compile(r"\s*Traceback \(most recent call last\):.*", re.DOTALL)
# Addresses of the recorded installation that recordings still have.
_RECORDED_ADDRESSES = (
    ('Keystone uri="http://127.0.0.1:5000"', 'Keystone uri="<auth_url>"'),
    ("http://127.0.0.1:8004/v1", "<endpoint>"),
)


@dataclass(slots=True)
class Masks:
    """The masks for the answers of one case. Names, ids and variables are added as it runs."""

    # Texts known before the case starts (addresses, projects, users) and their masks.
    fixed: Sequence[tuple[str, str]]
    patterns: Sequence[tuple[str, str]] = ()
    keep_hex: bool = False
    names: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    variables: dict[str, Any] = field(default_factory=dict)

    def apply(self, value: Any) -> Any:
        """The value, masked, as JSON has it."""
        if isinstance(value, Mapping):
            return {self.apply(str(key)): self.apply(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.apply(item) for item in value]
        if isinstance(value, dt.date):
            return str(value)
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        text = _TRACEBACK.sub(" <traceback>", text)
        if re.fullmatch("[a-z2-7]{12}", text) and re.search("[0-9]|[^aeiou]{4}", text):
            text = "<sid>"
        for pattern, word in self.patterns:
            text = re.sub(pattern, word, text)
        for known, word in self.fixed:
            text = text.replace(known, word)
        for key in sorted(self.ids, reverse=True):
            text = text.replace(self.ids[key], _word("stack_id", key))
        named = text
        for key, name in self.names.items():
            named = named.replace(name, _word("stack_name", key))
        if named != text:
            text = _SUFFIX.sub("-<sid>", named)
        for key, value in sorted(self.variables.items(), key=lambda each: -len(str(each[1]))):
            if isinstance(value, str) and len(value) > 7:
                text = text.replace(value, f"<var.{key}>")
        return _ids(text, self.keep_hex)


def _ids(text: str, keep_hex: bool) -> str:
    text = re.sub("req-" + UUID, "<request_id>", text)
    text = re.sub(UUID, "<uuid>", text)
    if not keep_hex:
        text = _HEX.sub("<hex32>", text)
    return _TIME.sub("<ts>", text)


def _word(word: str, key: str) -> str:
    return f"<{word}>" if key == "S" else f"<{word}.{key}>"


def fixed_masks(known: Iterable[tuple[str | None, str]]) -> list[tuple[str, str]]:
    """Masks of known texts: long enough to be meant, addresses also in their quoted form."""
    masks = []
    for text, word in known:
        if text and len(text) > 3:
            masks.append((text, word))
            if "://" in text:
                masks.append((quote(text, safe=""), word))
    return masks


def recorded(value: Any) -> Any:
    """An expectation without the addresses of the installation where it was recorded."""
    if isinstance(value, dict):
        return {key: recorded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [recorded(item) for item in value]
    if isinstance(value, str):
        for address, word in _RECORDED_ADDRESSES:
            value = value.replace(address, word)
    return value
