"""``python -m tests.rest`` writes docs/reference/security.md."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import httpx

from tests.recovery.service import Service
from tests.rest.scene import set_scene
from tests.rest.security import PAGE, page


def main() -> int:
    """Write the page."""
    with tempfile.TemporaryDirectory(prefix="stoker-security-") as directory:
        service = Service(Path(directory) / "data")
        service.start()
        try:
            scene = set_scene(service)
            document = httpx.get(f"{service.url}/v1/openapi.json", timeout=20).json()
            PAGE.write_text(page(scene, document), encoding="utf-8")
        finally:
            service.stop()
    print(f"wrote {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
