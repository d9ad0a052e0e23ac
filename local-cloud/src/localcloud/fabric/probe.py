"""What this machine allows, for a person or a program that asks."""

import tempfile
from pathlib import Path

from localcloud.fabric.interface import Capabilities
from localcloud.fabric.start import start_owner


def probe() -> Capabilities:
    """Find out what this machine allows, in a process that ends at once. Takes about 0.2 s."""
    with tempfile.TemporaryDirectory(prefix="localcloud-probe-") as place:
        process = start_owner(Path(place), probe_only=True).complete()
        process.channel.close()
        process.wait()
    return process.findings.capabilities
