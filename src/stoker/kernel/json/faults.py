"""Messages about malformed JSON, for its authors."""

from __future__ import annotations

import sys


def fault_of(error: ValueError | RecursionError) -> str:
    """Return the message of a JSON parser's error, without Python's advice to programmers."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if "integer string conversion" in str(error):
        return f"a number has more than {sys.get_int_max_str_digits()} digits"
    return str(error)
