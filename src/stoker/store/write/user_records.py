"""Store access to change sets, exports, client tokens, protections and drift detections."""

from __future__ import annotations

from functools import cached_property

from stoker.store.read.group_read import Reading
from stoker.store.records.change_sets import (
    SqlChangeSets,
    SqlDetections,
    SqlProtections,
)
from stoker.store.records.client_tokens import SqlClientTokens
from stoker.store.records.exports import SqlExports


class UserRecords(Reading):
    """The records of users other than stacks, in a relational database."""

    @cached_property
    def change_sets(self) -> SqlChangeSets:
        """Change sets."""
        return SqlChangeSets(self._engine, self._cipher, self._runner)

    @cached_property
    def protections(self) -> SqlProtections:
        """Return the protections of stacks."""
        return SqlProtections(self._engine, self._cipher, self._runner)

    @cached_property
    def detections(self) -> SqlDetections:
        """Detections of drift."""
        return SqlDetections(self._engine, self._cipher, self._runner)

    @cached_property
    def client_tokens(self) -> SqlClientTokens:
        """Requests by their tokens."""
        return SqlClientTokens(self._engine, self._cipher, self._runner)

    @cached_property
    def exports(self) -> SqlExports:
        """Exports of stacks."""
        return SqlExports(self._engine, self._cipher, self._runner)
