"""``python tools/dead_code.py``: refuses code that nothing in the sources uses; tests do not count.

Prints ``file:line: what is unused``; the exit code is 1 when there is any.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from vulture import Vulture

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.source import ROOT, SOURCES, Module, modules_under

RESOURCE_TYPES = ROOT / "src/stoker/resources"
"""Their classes are found by the names in a table."""

USED_BY_LIBRARIES: Mapping[str, str] = {
    "ConnectionCls": "of urllib3's connection pools",
    "EGRESS": "of an enum, found by its value",
    "capture_signals": "uvicorn.Server calls it",
    "datagram_received": "of asyncio's protocols",
    "disconnected": "of uvicorn's request cycle",
    "down_revision": "alembic reads it",
    "exit_code": "click reads it",
    "fetch_job": "procrastinate's worker calls it",
    "format_commands": "click.Group calls it",
    "get_command": "click.Group calls it",
    "heat_manage": "of the table project.scripts in pyproject.toml",
    "flow_style": "of PyYAML's nodes",
    "handle_request": "of httpx's transports",
    "ignore_aliases": "PyYAML's dumper calls it",
    "is_disconnect": "of SQLAlchemy's context of an error",
    "isolation_level": "of the sqlite3 connection",
    "job_manager": "of procrastinate's App",
    "list_commands": "click.Group calls it",
    "listen_for_jobs": "procrastinate's worker calls it",
    "log_context": "procrastinate's worker calls it",
    "obj": "click hands it to commands",
    "pool_classes_by_scheme": "of urllib3's PoolManager",
    "readable": "of io's raw streams",
    "regex": "of starlette's convertors",
    "response_class": "of http.client's connections",
    "send_400_response": "uvicorn's protocol calls it",
    "should_exit": "of uvicorn.Server",
    "suppress_default_change_warnings": "of oslo.policy's enforcer",
    "suppress_deprecation_warnings": "of oslo.policy's enforcer",
    "trust_env": "of requests.Session",
    "use_conf": "of oslo.policy's enforcer",
}


def keys_of_typed_dicts(modules: Iterable[Module]) -> set[tuple[Path, int]]:
    """Where the keys of TypedDicts are declared: what uses them are literals, which mypy checks."""
    classes = [(module, node) for module in modules for node in module.classes]
    bases: dict[str, list[str]] = {}
    for _, node in classes:
        bases.setdefault(node.name, []).extend(map(ast.unparse, node.bases))

    def is_typed_dict(name: str) -> bool:
        return name == "TypedDict" or any(map(is_typed_dict, bases.get(name, ())))

    return {
        (module.path, entry.lineno)
        for module, node in classes
        if any(is_typed_dict(ast.unparse(base)) for base in node.bases)
        for entry in node.body
    }


def unused() -> Iterator[str]:
    """What is unused, as lines of text."""
    for source in SOURCES:
        keys = keys_of_typed_dicts(modules_under(source).values())
        vulture = Vulture(
            ignore_names=list(USED_BY_LIBRARIES),
            ignore_decorators=["@main.command", "@command.command", "@service.command", "@rule"],
        )
        vulture.scavenge([str(source)])
        for item in vulture.get_unused_code():
            of_type = item.typ == "class" and item.filename.is_relative_to(RESOURCE_TYPES)
            if not of_type and (item.filename, item.first_lineno) not in keys:
                path = item.filename.relative_to(ROOT)
                yield f"{path}:{item.first_lineno}: unused {item.typ} {item.name}"


def main() -> int:
    """Check the sources of the project; the exit code."""
    found = list(unused())
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
