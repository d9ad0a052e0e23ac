"""The log of the service: lines on standard error, with tracebacks but without values of variables.

Standard output is for the one line that says ``ready``; variables may hold secrets.
"""

from __future__ import annotations

import logging
import sys

import structlog


def configure_log(*, debug: bool = False) -> None:
    """Send what the service and its libraries log to standard error."""
    level = logging.DEBUG if debug else logging.INFO
    logging.basicConfig(
        level=logging.INFO if debug else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            _line,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


def _line(_: object, __: str, event: structlog.typing.EventDict) -> str:
    """Time, level, what happened, the rest as key=value, and a traceback below."""
    trace = event.pop("exception", None)
    head = f"{event.pop('timestamp')} {str(event.pop('level')).upper()} {event.pop('event')}"
    rest = " ".join(f"{key}={value}" for key, value in event.items())
    line = f"{head} {rest}".rstrip()
    return f"{line}\n{trace}" if trace else line
