"""Messages about texts that are no JSON, for their authors."""

from __future__ import annotations

import sys


def fault_of(error: ValueError | RecursionError) -> str:
    """The fault that a reader of JSON has raised; Python's advice to programmers is left out."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if "integer string conversion" in str(error):
        return f"a number has more than {sys.get_int_max_str_digits()} digits"
    return str(error)
