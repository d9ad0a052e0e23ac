"""``python -m tests.takeover_live``: takes over a real Heat, and works with its stacks.

Starts a Heat with MariaDB and RabbitMQ on the local cloud, creates stacks with python-heatclient,
takes them over, and starts the service on Heat's ports. Servers, alarms and clients then use the
addresses that Heat gave them. At the end all stacks are deleted, and the cloud must be empty.

Each step prints its time and its result; the exit code is 1 if one failed.
"""

from __future__ import annotations

import argparse
import sys

from tests.takeover_live import after, before, lab, switched
from tests.takeover_live.inventory import inventory, left_since
from tests.takeover_live.stacks import Stacks, session_of, wait_until
from tests.takeover_live.steps import Steps


def main() -> int:
    """Run the story; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.takeover_live", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="do not stop the services at the end")
    given = parser.parse_args()
    if lacking := lab.missing():
        sys.stderr.write("This machine lacks: " + ", ".join(lacking) + "\n")
        return 2
    steps = Steps(lab.FOLDER / "failures.log")
    try:
        with steps.step("Heat starts"):
            lab.run("wipe")
            lab.run("up", ENCRYPT="true")
            lab.make_image()
        if not steps.failed:
            _play(steps)
    finally:
        if not given.keep:
            lab.run("down")
    sys.stdout.write(steps.summary() + "\n")
    return int(bool(steps.failed))


def _play(steps: Steps) -> None:
    demo, admin = session_of("demo"), session_of("admin")
    stacks = Stacks(demo)
    empty = inventory(admin)
    before.play(steps, stacks, demo)
    if steps.failed:
        return
    with switched.serving():
        after.play(steps, stacks, demo)
        with steps.step("nothing is left in the cloud"):
            # The service deletes trusts a few seconds after the last stack of their user.
            wait_until(lambda: not left_since(empty, inventory(admin)), "all objects are gone", 60)


if __name__ == "__main__":
    sys.exit(main())
