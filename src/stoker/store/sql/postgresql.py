"""Support for PostgreSQL that SQLite does not need: connections, locks and error texts.

It is imported only for such databases, and imports no driver itself.
"""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

import sqlalchemy as sa

from stoker.kernel.lazy import LazyModule
from stoker.store.sql.foreign import UnusableDatabaseError

conninfo = LazyModule("psycopg.conninfo")
texts = LazyModule("psycopg.types.string")

# Those of the writer, the readers and the lock, and some for commands of a service.
CONNECTIONS = 10
# Seconds until a connection is replaced. The buffers of a connection grow to the largest row or
# statement that it has carried, and never shrink.
_LIFETIME = 300
OLDEST = 14  # the first release with all features that are used
_CONNECT = {
    "connect_timeout": 5,
    # Detect a server without power within 15 seconds.
    "keepalives_idle": 5,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    # Override PGCLIENTENCODING.
    "client_encoding": "utf8",
    "tcp_user_timeout": 15_000,
    # After a failover, connect to the server that accepts writes.
    "target_session_attrs": "read-write",
    # Report a lock that another session holds for long. End the session of a process that hangs in
    # a transaction, so that it releases its locks.
    "options": "-c lock_timeout=30s -c idle_in_transaction_session_timeout=5s"
    " -c tcp_keepalives_idle=5 -c tcp_keepalives_interval=3 -c tcp_keepalives_count=3",
}
_READ_ONLY = "25006"
# SQLSTATEs of conflicting transactions, which succeed when they are repeated.
_CONFLICTS = frozenset({"40001", "40P01"})


def options(url: sa.URL) -> dict[str, Any]:
    """Return the options of the connection. Those in the URL take precedence."""
    arguments: dict[str, Any] = {**_CONNECT, "application_name": _own_name()}
    return {
        "pool_size": CONNECTIONS,
        "max_overflow": 0,
        "pool_timeout": 10,
        "pool_recycle": _LIFETIME,
        "connect_args": {k: value for k, value in arguments.items() if k not in url.query},
    }


def conninfo_of(url: sa.URL) -> str:
    """Return the connection string for direct use of the driver, with the same options."""
    arguments = {**_CONNECT, "application_name": _own_name(), **url.query}
    named = {
        "host": url.host,
        "port": url.port,
        "dbname": url.database,
        "user": url.username,
        "password": url.password,
    }
    settings = {name: value for name, value in named.items() if value is not None}
    return str(conninfo.make_conninfo(**{**arguments, **settings}))


def _own_name() -> str:
    """Return the name of this process for the server's lists of sessions."""
    return f"stoker {os.getpid()} on {socket.gethostname()}"[:60]


def prepare(engine: sa.Engine) -> None:
    """Adapt an engine to PostgreSQL.

    Texts are written without NUL. A session that the server has ended, or a server that no longer
    accepts writes, is replaced by a new connection, perhaps to another server.
    """
    usual: Any = texts.StrDumper

    class WithoutNul(usual):  # type: ignore[misc]
        """Removes NUL from texts, which PostgreSQL refuses and reasons of servers may contain."""

        def dump(self, obj: str) -> Any:
            """Return the bytes to send."""
            return super().dump(obj.replace("\0", "\N{REPLACEMENT CHARACTER}"))

    def adapt(connection: Any, record: Any) -> None:
        connection.adapters.register_dumper(str, WithoutNul)
        record.info[_NEW] = True

    sa.event.listen(engine, "connect", adapt)
    sa.event.listen(engine, "checkout", _leave_ended)
    sa.event.listen(engine, "handle_error", _leave_read_only)


def _leave_ended(connection: Any, record: Any, _proxy: object) -> None:
    """Detect sessions that the server has ended, which sends an unexpected message.

    The check costs no round trip and finds most ended sessions; the transaction then starts again
    on another connection.
    """
    if record.info.pop(_NEW, False):
        return  # If a new connection has ended already, another one would not help.
    poller = select.poll()
    if not connection.closed:
        poller.register(connection.fileno(), select.POLLIN)
    if connection.closed or poller.poll(0):
        raise sa.exc.InvalidatePoolError


_NEW = "stoker_new"


def _leave_read_only(context: sa.engine.ExceptionContext) -> None:
    if getattr(context.original_exception, "sqlstate", None) == _READ_ONLY:
        context.is_disconnect = True


def is_conflict(error: sa.exc.DBAPIError) -> bool:
    """Return whether a conflict of transactions caused the error: nothing was written."""
    return getattr(error.orig, "sqlstate", None) in _CONFLICTS


class Lock(IntEnum):
    """Exclusive locks of sessions."""

    SCHEMA = 1
    NUMBERS = 2  # write events of any tree; shared by transactions that lock trees
    ENGINE = 3  # drive all stacks of the database
    MEMBERS = 4  # share the work on them with other processes
    DUTIES = 5  # run the tasks that one of many engines does for all


SPACE = 0x570C  # separates the locks of this service from those of other programs
# Keys of the locks of trees, above those in `Lock`. Several trees may share a key: a transaction
# has at most this many locks.
FIRST_TREE, TREES = 1024, 1024


def lock(connection: sa.Connection, which: Lock) -> None:
    """Acquire a lock, and keep it until the transaction ends.

    SQLite has one writing transaction at a time.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({SPACE}, {which.value})")


def let_rest(connection: sa.Connection) -> None:
    """Disable the limit of time between two statements of the transaction."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")


@contextmanager
def telling_where(url: sa.URL) -> Iterator[None]:
    """Raise connection errors as :class:`UnusableDatabaseError`, with the address."""
    try:
        yield
    except sa.exc.OperationalError as error:
        if url.get_backend_name() == "sqlite":
            raise
        raise UnusableDatabaseError(
            f"the database {place_of(url)} cannot be used: {_words(error)}. Check that PostgreSQL"
            " runs there and has this database and user, or correct [database] connection"
        ) from None


def require_able(connection: sa.Connection, url: sa.URL) -> None:
    """Reject a server that is too old, and a database that cannot store every text."""
    if connection.dialect.name != "postgresql":
        return
    version: Any = connection.dialect.server_version_info
    if version[0] < OLDEST:
        raise UnusableDatabaseError(
            f"the database {place_of(url)} is of PostgreSQL {version[0]}; {OLDEST} is the oldest"
            " that can be used"
        )
    encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
    if encoding != "UTF8":
        raise UnusableDatabaseError(
            f"the database {place_of(url)} has the encoding {encoding}, which cannot hold every"
            " text: make one that can, with createdb -E UTF8 -T template0 NAME, and name it in"
            " [database] connection"
        )


def place_of(url: sa.URL) -> str:
    """Return the place of a database for messages."""
    host = url.host or url.query.get("host") or "the usual socket"
    where = host if isinstance(host, str) else ", ".join(host)
    return f"{url.database or 'of the user'} at {where} port {url.port or 5432}"


def _words(error: sa.exc.OperationalError) -> str:
    """Return the reason in an error of the driver, in one line."""
    lines = [line.strip() for line in str(error.orig).splitlines() if line.strip()]
    return (lines or ["no reason given"])[0].rstrip(".")
