"""``python tools/dead_code.py``: refuses code that nothing in the sources uses; tests do not count.

Prints ``file:line: what is unused``; the exit code is 1 when there is any.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from vulture import Vulture

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.source import ROOT, SOURCES

RESOURCE_TYPES = ROOT / "src/stoker/resources"
"""Their classes are found by the names in a table."""

USED_BY_LIBRARIES: Mapping[str, str] = {
    "EGRESS": "of an enum, found by its value",
    "alarms": "for the CloudWatch API, which is not served yet",
    "capture_signals": "uvicorn.Server calls it",
    "changed_at": "for the CloudWatch API, which is not served yet",
    "disconnected": "of uvicorn's request cycle",
    "down_revision": "alembic reads it",
    "exit_code": "click reads it",
    "format_commands": "click.Group calls it",
    "get_command": "click.Group calls it",
    "isolation_level": "of the sqlite3 connection",
    "list_commands": "click.Group calls it",
    "put_metric_data": "for the CloudWatch API, which is not served yet",
    "regex": "of starlette's convertors",
    "send_400_response": "uvicorn's protocol calls it",
    "set_state": "for the CloudWatch API, which is not served yet",
    "should_exit": "of uvicorn.Server",
    "suppress_default_change_warnings": "of oslo.policy's enforcer",
    "suppress_deprecation_warnings": "of oslo.policy's enforcer",
    "use_conf": "of oslo.policy's enforcer",
}


def unused() -> Iterator[str]:
    """What is unused, as lines of text."""
    for source in SOURCES:
        vulture = Vulture(ignore_names=list(USED_BY_LIBRARIES), ignore_decorators=["@main.command"])
        vulture.scavenge([str(source)])
        for item in vulture.get_unused_code():
            if item.typ != "class" or not item.filename.is_relative_to(RESOURCE_TYPES):
                path = item.filename.relative_to(ROOT)
                yield f"{path}:{item.first_lineno}: unused {item.typ} {item.name}"


def main() -> int:
    """Check the sources of the project; the exit code."""
    found = list(unused())
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
