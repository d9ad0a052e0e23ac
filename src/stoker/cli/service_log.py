"""The log of the service: lines on standard error, with tracebacks but without values of variables.

Standard output is for the one line that says ``ready``; variables may hold secrets.
"""

from __future__ import annotations

import logging


def configure_log(*, debug: bool = False) -> None:
    """Send what the service and its libraries log to standard error."""
    logging.basicConfig(
        level=logging.INFO if debug else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    logging.getLogger("stoker").setLevel(logging.DEBUG if debug else logging.INFO)
