"""``python -m tests.takeover.small_batches URL DIRECTORY``: a pass of many small batches."""

from __future__ import annotations

import sys
from pathlib import Path

from bench.takeover import takeover_into

from stoker.takeover.heat import trees
from stoker.takeover.heat.trees import Selection
from stoker.takeover.transfer import Progress

ROOTS = 4  # root stacks in a batch


def transfer(url: str, directory: Path) -> Progress:
    """Take over in batches of a few stacks."""
    trees._ROOTS = ROOTS
    return takeover_into(directory).transfer(url, Selection(), lambda progress: None)


if __name__ == "__main__":
    sys.stdout.write("started\n")
    sys.stdout.flush()
    transfer(sys.argv[1], Path(sys.argv[2]))
