"""Operations by the client tokens of their requests."""

from __future__ import annotations

import sqlalchemy as sa

from stoker.engine.model.stack_records.client_tokens import RequestWithToken
from stoker.kernel.addresses import StackAddress
from stoker.store.read import queries
from stoker.store.read.group_read import Reading
from stoker.store.records.lazy_flush import LazyFlush
from stoker.store.schema import tables

_operations, _stacks = tables.operations, tables.stacks


class SqlClientTokens(Reading):
    """Tokens of clients in a relational database."""

    async def request_with_token(self, project_id: str, text: str) -> RequestWithToken | None:
        """Return the request that a client of the project has sent with a token."""
        return await self._read(
            lambda connection: _request_with_token(connection, project_id, text)
        )


class ClientTokensInTransaction(LazyFlush):
    """Client tokens for guards."""

    def request_with_token(self, project_id: str, text: str) -> RequestWithToken | None:
        """Return the request of a project with a token."""
        queries.lock_project(self._connection, project_id)
        return _request_with_token(self._connection, project_id, text)


def _request_with_token(
    connection: sa.Connection, project_id: str, text: str
) -> RequestWithToken | None:
    select = (
        sa.select(_stacks.c.name, _stacks.c.id, _operations.c.client_digest)
        .join(_stacks, _stacks.c.id == _operations.c.stack_id)
        .where(
            _operations.c.client_token == text,
            _operations.c.client_digest.is_not(None),
            _stacks.c.project_id == project_id,
        )
    )
    for name, stack_id, digest in connection.execute(select):
        return RequestWithToken(StackAddress(project_id, name, stack_id), digest)
    return None
