"""Writes converted documents as YAML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from stoker.cli.authoring.formatting.formatter import formatted
from stoker.template.versions import VERSIONS

_WIDE = 10_000
_NARROW = 70  # characters of a call that is written in one line
_FUNCTIONS = {
    name
    for version in VERSIONS
    for name in (*version.functions, *version.extensions, *version.condition_functions, "Condition")
}


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, equal parts each time, and dates without quotes."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write equal parts each time."""
        return True


def _map(dumper: yaml.SafeDumper, data: dict[str, Any]) -> yaml.MappingNode:
    """Return a map; a short call of a function is written in one line."""
    node = dumper.represent_mapping("tag:yaml.org,2002:map", data.items())
    is_call = len(data) == 1 and next(iter(data)) in _FUNCTIONS
    if is_call and "\n" not in str(data) and "\\n" not in str(data) and len(str(data)) <= _NARROW:
        node.flow_style = True
    return node


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(dict, _map)
_Dumper.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if not tag.endswith(":timestamp")]
    for first, found in yaml.SafeDumper.yaml_implicit_resolvers.items()
}


def as_yaml(document: Mapping[str, Any]) -> str:
    """Return a document as formatted YAML, with an empty line between sections."""
    parts = [
        yaml.dump({key: value}, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDE)
        for key, value in document.items()
    ]
    return formatted("\n".join(parts))
