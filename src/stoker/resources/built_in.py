"""Where the built-in types are, and which were withdrawn.

A type is found by its file: whatever module of a service's package says ``type_name = "..."`` in
a class declares that type. The files are read and not imported, so that a service starts without
importing a type that nobody uses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_DIRECTORY = Path(__file__).parent
_DECLARATION = re.compile(r'^    type_name = "([^"]+)"$', re.MULTILINE)

WITHDRAWN = frozenset((
    "OS::Nova::FloatingIP", "OS::Nova::FloatingIPAssociation", "OS::Senlin::Cluster",
    "OS::Senlin::Node", "OS::Senlin::Policy", "OS::Senlin::Profile", "OS::Senlin::Receiver",
))  # fmt: skip
"""Types for services that are gone."""


@cache
def built_in() -> Mapping[str, str]:
    """The module of each built-in type, by the name of the type."""
    return {
        name: ".".join((__package__, *file.relative_to(_DIRECTORY).with_suffix("").parts))
        for file in sorted(_DIRECTORY.glob("*/**/*.py"))
        for name in _DECLARATION.findall(file.read_text(encoding="utf-8"))
    }
