"""Fills a PostgreSQL like an installation that is years old, with statements of the server.

Every fifth stack belongs to one large project, every tenth has two nested ones, and every tenth was
deleted. Events are in order of time, so the events of one stack are far apart.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from stoker.store.schema import tables
from stoker.store.sql.encryption import Cipher

RESOURCES_OF_STACK = 20
LARGE = "p0"  # the project with a fifth of all stacks
PROJECTS = 200
DAY = 86_400.0
_AT_ONCE = 500_000  # rows in one statement, so that its progress is visible


@dataclass(frozen=True)
class Size:
    """The size of an installation."""

    resources: int
    events: int

    @property
    def stacks(self) -> int:
        """Return the number of stacks, including deleted ones."""
        return self.resources // RESOURCES_OF_STACK


def id_of(kind: str, number: int | str) -> str:
    """Return SQL for the id of a row."""
    return f"md5('{kind}' || {number})::uuid::text"


_PROJECT = f"CASE WHEN n % 5 = 0 THEN '{LARGE}' ELSE 'p' || (n % {PROJECTS - 1} + 1) END"
_OPEN = "n % 25 = 3"  # one of 25 stacks has an open operation
_ROOT = "n - n % 10"
_NESTED = "n % 10 IN (1, 2)"
_DELETED = "n % 10 = 9"
_AGE = "(:stacks - n)::float8 / :stacks * 365 * 86400"
_STATEMENTS = {
    "stacks": f"""
        INSERT INTO stacks (id, project_id, name, live_name, action, status, reason, created_at,
            updated_at, deleted_at, epoch, take_ups, input_id, good_input_id, description, user_id,
            user_name, credentials, disable_rollback, tags, parent_id, parent_resource,
            parent_resource_id, root_id, depth)
        SELECT {id_of("s", "n")}, {_PROJECT}, 'stack-' || n,
            CASE WHEN {_NESTED} OR {_DELETED} THEN NULL ELSE 'stack-' || n END,
            CASE WHEN {_DELETED} THEN 'DELETE' ELSE 'CREATE' END,
            CASE WHEN {_OPEN} THEN 'IN_PROGRESS' WHEN n % 50 = 4 THEN 'FAILED' ELSE 'COMPLETE' END,
            'Stack CREATE completed successfully', :now - {_AGE}, :now - {_AGE} / 2,
            CASE WHEN {_DELETED} THEN :now - {_AGE} / 2 END, 7, 0, {id_of("i", "n")},
            {id_of("i", "n")}, 'a stack of the measurement', 'user-' || n % 1000,
            'user-' || n % 1000, :secret, false,
            CASE WHEN n % 7 = 0 THEN '["blue"]' ELSE '[]' END,
            CASE WHEN {_NESTED} THEN {id_of("s", f"({_ROOT})")} END,
            CASE WHEN {_NESTED} THEN 'r' || n % 10 END,
            CASE WHEN {_NESTED} THEN {id_of("r", f"(({_ROOT}) * {RESOURCES_OF_STACK} + n % 10)")}
            END,
            CASE WHEN {_NESTED} THEN {id_of("s", f"({_ROOT})")} END,
            CASE WHEN {_NESTED} THEN 1 ELSE 0 END
        FROM generate_series(:first, :last) AS n""",
    "inputs": f"""
        INSERT INTO inputs (id, stack_id, template, text, environment, files, parameters, facade)
        SELECT {id_of("i", "n")}, {id_of("s", "n")}, 'template-' || n / 10, 'text-' || n / 10,
            'environment', 'files', :secret, '{{}}'
        FROM generate_series(:first, :last) AS n""",
    "operations": f"""
        INSERT INTO operations (id, stack_id, action, status, created_at, input_id, reason, kind,
            request, plan)
        SELECT {id_of("o", "n")}, {id_of("s", "(n / 5)")}, 'UPDATE', 'COMPLETE',
            :now - (:stacks - n / 5)::float8 / :stacks * 365 * 86400, {id_of("i", "(n / 5)")}, '',
            'change', '{{"kind": "change"}}', NULL
        FROM generate_series(:first * 5, :last * 5 + 4) AS n""",
    "open operations": f"""
        INSERT INTO operations (id, stack_id, action, status, created_at, input_id, reason, kind,
            request, deadline)
        SELECT {id_of("open", "n")}, {id_of("s", "n")}, 'CREATE', 'RUNNING', :now - 60,
            {id_of("i", "n")}, '', 'change', '{{"kind": "change"}}', :now + 3600
        FROM generate_series(:first, :last) AS n WHERE {_OPEN} AND NOT ({_DELETED})""",
    "turns": f"""
        INSERT INTO procrastinate_jobs (queue_name, task_name, priority, lock, queueing_lock, args,
            scheduled_at)
        SELECT 'stoker', 'turn', -(n / 25 % 5), {id_of("s", "n")}, {id_of("s", "n")},
            jsonb_build_object('stack_id', {id_of("s", "n")}),
            CASE WHEN n / 25 % 2 = 0 THEN now() + interval '1 hour' END
        FROM generate_series(:first, :last) AS n WHERE {_OPEN} AND NOT ({_DELETED})""",
    "software_deployments": f"""
        INSERT INTO software_deployments (id, project_id, stack_id, config_id, server_id,
            created_at, content)
        SELECT {id_of("d", "n")}, {_PROJECT}, {id_of("s", "n")}, {id_of("c", "n")},
            {id_of("object", f"(n * {RESOURCES_OF_STACK})")}, :now - {_AGE}, :secret
        FROM generate_series(:first, :last) AS n WHERE n % 5 = 1""",
    "software_configs": f"""
        INSERT INTO software_configs (id, project_id, created_at, name, "group", content)
        SELECT {id_of("c", "n")}, {_PROJECT}, :now - {_AGE}, '"config"', '"script"', :secret
        FROM generate_series(:first, :last) AS n WHERE n % 5 = 1""",
    "snapshots": f"""
        INSERT INTO snapshots (id, stack_id, created_at, input_id, operation_id, status,
            stack_state)
        SELECT {id_of("snapshot", "n")}, {id_of("s", "n")}, :now - {_AGE}, {id_of("i", "n")},
            {id_of("o", "n")}, 'COMPLETE', '{{}}'
        FROM generate_series(:first, :last) AS n WHERE n % 20 = 0""",
    "snapshot_parts": f"""
        INSERT INTO snapshot_parts (id, snapshot_id, path, object_name, row_id, type_name,
            implementation, nested_id, metadata, data, asked, complete)
        SELECT {id_of("part", "(n * 10 + part)")}, {id_of("snapshot", "n")}, '[]', 'r' || part,
            {id_of("r", f"(n * {RESOURCES_OF_STACK} + part)")}, 'OS::Nova::Server',
            'OS::Nova::Server', CASE WHEN part IN (1, 2) THEN {id_of("s", "(n + part)")} END,
            '{{}}', '{{}}', true, true
        FROM generate_series(:first, :last) AS n, generate_series(0, 9) AS part
        WHERE n % 20 = 0""",
    "watches": f"""
        INSERT INTO watches (resource_id, stack_id, name, namespace, metric, created_at, next_at,
            state, reason)
        SELECT {id_of("r", f"(n * {RESOURCES_OF_STACK} + 19)")}, {id_of("s", "n")}, 'watch-' || n,
            'system', 'cpu', :now - {_AGE}, :now + n % 60, 'OK', ''
        FROM generate_series(:first, :last) AS n WHERE n % 100 = 0""",
    "resources": f"""
        INSERT INTO resources (id, stack_id, name, type_name, token, implementation, action, status,
            reason, created_at, updated_at, physical_id, properties, metadata, attributes, data,
            progress, requires, needs, deletion_policy, update_policy, dirty, external, unhealthy,
            description, operation_id)
        SELECT {id_of("r", "(n * :each + r)")}, {id_of("s", "n")}, 'r' || r, 'OS::Nova::Server',
            'abcdefghijkl', 'OS::Nova::Server', 'CREATE', 'COMPLETE', 'state changed',
            :now - {_AGE}, :now - {_AGE}, {id_of("object", "(n * :each + r)")}, :secret, '{{}}',
            :secret, '{{}}', '{{}}', '[]', '["r0", "r1"]', 'Delete', '{{}}', '[]', false, false,
            '', {id_of("o", "(n * 5)")}
        FROM generate_series(:first, :last) AS n, generate_series(0, :each - 1) AS r
        WHERE NOT ({_DELETED})""",
}
_CONTENTS = """
    INSERT INTO contents (hash, body)
    SELECT kind || '-' || n, :secret FROM generate_series(0, :stacks / 10) AS n,
        unnest(ARRAY['template', 'text']) AS kind
    UNION ALL SELECT 'environment', '{}' UNION ALL SELECT 'files', '{}'"""
_EVENTS = f"""
    INSERT INTO events (id, stack_id, time, action, status, reason, resource_name, resource_type,
        resource_id, physical_id, properties)
    SELECT {id_of("e", "n")}, {id_of("s", "(n::bigint * 7919 % :stacks)")},
        :now - (:events - n)::float8 / :events * 365 * 86400, 'CREATE',
        CASE WHEN n % 2 = 0 THEN 'COMPLETE' ELSE 'IN_PROGRESS' END, 'state changed',
        'r' || n / 2 % :each, 'OS::Nova::Server',
        {id_of("r", "(n::bigint * 7919 % :stacks * :each + n / 2 % :each)")},
        {id_of("object", "n")}, CASE WHEN n % 2 = 0 THEN :secret END
    FROM generate_series(:first, :last) AS n"""


def fill(database: sa.Engine, cipher: Cipher, size: Size) -> Mapping[str, float]:
    """Fill an empty database; return the seconds for each table."""
    secret = cipher.encrypt({f"property{n}": f"value {n} of a server" for n in range(10)})
    common: dict[str, Any] = {"now": time.time(), "secret": secret, "stacks": size.stacks}
    each = {**common, "each": RESOURCES_OF_STACK, "events": size.events}
    seconds = {}
    late = [*tables.events.indexes, *tables.resources.indexes]
    with database.begin() as connection:
        for index in late:
            index.drop(connection, checkfirst=True)  # creating them at the end is faster
    begun = time.monotonic()
    with database.begin() as connection:
        connection.execute(typed(_CONTENTS), {name: common[name] for name in ("secret", "stacks")})
    for name, statement in _STATEMENTS.items():
        per = max(_AT_ONCE // RESOURCES_OF_STACK, 1)
        _in_parts(database, statement, size.stacks, per, each)
        seconds[name] = time.monotonic() - begun
        begun = time.monotonic()
    _in_parts(database, _EVENTS, size.events, _AT_ONCE, each)
    seconds["events"] = time.monotonic() - begun
    begun = time.monotonic()
    with database.begin() as connection:
        for index in late:
            index.create(connection)
    seconds["indexes"] = time.monotonic() - begun
    with database.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("VACUUM ANALYZE")
    return seconds


_TYPES: Mapping[str, Any] = {"now": sa.Float(), "secret": sa.Text()}


def typed(statement: str) -> sa.TextClause:
    """Return a statement with typed parameters."""
    names = names_in(statement)
    named = [sa.bindparam(name, type_=_TYPES.get(name, sa.Integer())) for name in names]
    return sa.text(statement).bindparams(*named)


def names_in(statement: str) -> set[str]:
    """Return the names of a statement's parameters."""
    return set(re.findall(r"(?<!:):([a-z]+)", statement))


def _in_parts(
    database: sa.Engine, statement: str, count: int, at_once: int, values: Mapping[str, Any]
) -> None:
    asked = typed(statement)
    used = {name: values[name] for name in names_in(statement) & values.keys()}
    for first in range(0, count, at_once):
        part = {"first": first, "last": min(first + at_once, count) - 1}
        with database.begin() as connection:
            connection.execute(asked, {**used, **part})
