"""The log of the service: lines on standard error, with tracebacks but without values of variables.

Standard output is for the one line that says ``ready``; variables may hold secrets.
"""

from __future__ import annotations

import logging


def configure_log(*, debug: bool = False, file: str | None = None) -> None:
    """Send what the service and its libraries log to standard error, or to a file."""
    logging.basicConfig(
        filename=file,
        level=logging.INFO if debug else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    logging.getLogger("stoker").setLevel(logging.DEBUG if debug else logging.INFO)
