"""What this machine allows, for a person who asks: ``python -m localcloud doctor``."""

import json
import sys
import tempfile
from dataclasses import asdict

from localcloud.fabric.interface import Capabilities
from localcloud.fabric.start import start_owner


def probe() -> Capabilities:
    """Find out what this machine allows, in a process that ends at once. Takes about 0.1 s."""
    with tempfile.TemporaryDirectory(prefix="localcloud-probe-") as place:
        settings = {"state": place, "probe_only": True, "services": [], "floating": []}
        process = start_owner(settings)
        process.channel.close()
        process.wait()
    return process.findings.capabilities


def main() -> None:
    """Print the capabilities as JSON."""
    sys.stdout.write(json.dumps(asdict(probe()), indent=2) + "\n")


if __name__ == "__main__":
    main()
