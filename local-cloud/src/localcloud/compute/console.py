"""Reading console logs: the last lines, and never more than a fixed number of bytes."""

from pathlib import Path

LIMIT = 100 * 1024  # bytes that are read at most, from the end of the log


def tail(path: Path, lines: int | None) -> str:
    """Return the last lines of the log, all within the limit for None; empty without a log."""
    try:
        with path.open("rb") as log:
            size = log.seek(0, 2)
            log.seek(max(size - LIMIT, 0))
            content = log.read(LIMIT).decode(errors="replace")
    except FileNotFoundError:
        return ""
    if lines is None:
        return content
    return "".join(content.splitlines(keepends=True)[-lines:]) if lines else ""
