"""Regular expressions of users, in a helper process."""

from functools import lru_cache
from typing import Any

import regex

from stoker.sandbox.jobs import JobError

_MAX_PATTERN = 4096  # characters of a pattern


@lru_cache(maxsize=256)
def compiled(pattern: str, flags: int = 0) -> Any:
    """The compiled pattern."""
    if len(pattern) > _MAX_PATTERN:
        message = f"it has {len(pattern)} characters; at most {_MAX_PATTERN} are read"
        raise JobError("form", message)
    try:
        return regex.compile(pattern, flags | regex.VERSION0)
    except MemoryError:
        raise
    except RecursionError:
        raise JobError("form", "it is nested too deeply") from None
    except Exception as error:  # noqa: BLE001 - the library raises many kinds for bad patterns
        raise JobError("form", str(error) or type(error).__name__) from None


def fitting(pattern: str, *texts: str) -> list[bool]:
    """Return for each text whether a pattern matches it from start to end."""
    return [compiled(pattern).fullmatch(text) is not None for text in texts]
