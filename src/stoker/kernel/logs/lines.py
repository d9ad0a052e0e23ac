"""Formats of log lines: text, or a JSON object. In both, secrets are hidden."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any

from stoker.kernel.logs.log import concealed, concealed_value


class TextFormatter(logging.Formatter):
    """Lines of text, with a format string of Python's logging."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, with a traceback below if there is one."""
        return concealed(super().format(record))


class JsonFormatter(logging.Formatter):
    """One object for each record: time, level, logger, event, and the values by name."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "event": concealed(getattr(record, "event", None) or record.getMessage()),
        }
        for name, value in getattr(record, "values", {}).items():
            is_number = isinstance(value, int | float)
            entry[name] = value if is_number else concealed_value(name, str(value))
        if record.exc_info:
            entry["traceback"] = concealed(self.formatException(record.exc_info))
        return json.dumps(entry)
