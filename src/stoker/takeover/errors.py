"""Errors of a take-over. Their texts name the place, the fault and the remedy."""

from __future__ import annotations


class TakeoverError(ValueError):
    """The take-over cannot be carried out."""


class UnknownSchemaError(TakeoverError):
    """The database has a table or column that no known release of Heat has, or lacks one."""


class UnreadableValueError(TakeoverError):
    """A value cannot be decrypted or parsed; the text names its stack, table and column."""
