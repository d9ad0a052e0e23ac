"""The tables. One row of a table is one record of :mod:`stoker.engine.model.records`."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import sqlalchemy as sa


class Kind(StrEnum):
    """Encoding of values as text in a column; other columns hold the value itself."""

    JSON = "json"
    LIST = "list"
    """JSON of a list; a tuple in records."""
    ENCRYPTED = "encrypted"
    """Encrypted JSON."""
    ACTION = "action"
    STATUS = "status"
    PLAN = "plan"
    REQUEST = "request"


def kind_of(column: sa.Column[Any]) -> Kind | None:
    """The kind of a column."""
    return column.info.get(_KIND)


_KIND = "kind"
metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_ID = sa.String(64)
_NAME = sa.String(255)
_WORD = sa.String(32)
_CLIENT_TOKEN = sa.String(128)
_TEXT = sa.Text
# SQLite draws numbers only for columns of exactly this type, which has 64 bits there.
_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def _column(name: str, kind: Kind, *, nullable: bool = False, **options: Any) -> sa.Column[Any]:
    """A column of a kind."""
    type_: Any = _WORD if kind in (Kind.ACTION, Kind.STATUS) else _TEXT
    comment = "encrypted" if kind is Kind.ENCRYPTED else None
    return sa.Column(name, type_, nullable=nullable, comment=comment, info={_KIND: kind}, **options)


def _size() -> sa.Column[Any]:
    """Return a column for the bytes of a row's encrypted columns.

    Indexes contain it, because reading it from the row would read the whole row.
    """
    return sa.Column("size", sa.BigInteger, nullable=False, server_default="0")


contents = sa.Table(
    "contents",
    metadata,
    sa.Column("hash", sa.String(64), primary_key=True),
    sa.Column("body", _TEXT, nullable=False),
    comment="templates, environments and files, each once, by SHA-256; encrypted",
)

inputs = sa.Table(
    "inputs",
    metadata,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("stack_id", _ID, nullable=False, index=True),
    sa.Column("template", sa.String(64), nullable=False, index=True),
    sa.Column("text", sa.String(64), index=True),
    sa.Column("environment", sa.String(64), nullable=False, index=True),
    sa.Column("files", sa.String(64), nullable=False, index=True),
    _column("parameters", Kind.ENCRYPTED),
    sa.Column("template_file", _TEXT),
    _column("facade", Kind.JSON),
    _column("adopted", Kind.ENCRYPTED, server_default="{}"),
    _column("imports", Kind.ENCRYPTED, server_default="{}"),
    comment="template, text, environment and files are hashes of contents",
)

stacks = sa.Table(
    "stacks",
    metadata,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("project_id", _ID, nullable=False),
    sa.Column("name", _NAME, nullable=False),
    sa.Column("live_name", _NAME, comment="the name while the stack is live and not nested"),
    _column("action", Kind.ACTION),
    _column("status", Kind.STATUS),
    sa.Column("reason", _TEXT, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("updated_at", sa.Float),
    sa.Column("deleted_at", sa.Float),
    sa.Column("epoch", sa.Integer, key="fencing_token", nullable=False),
    sa.Column("take_ups", sa.Integer, nullable=False, server_default="0"),
    sa.Column("handed_over", sa.Integer, comment="the token of who has let go of it in order"),
    sa.Column("taken_for", _ID, comment="the operation that it was last taken up for"),
    sa.Column("taken_event", _NUMBER, comment="the number of its last event by then"),
    sa.Column("input_id", _ID, nullable=False),
    sa.Column("good_input_id", _ID),
    sa.Column("description", _TEXT, nullable=False),
    sa.Column("user_id", _ID, nullable=False),
    sa.Column("user_name", _NAME, nullable=False),
    _column("credentials", Kind.ENCRYPTED),
    sa.Column("user_project_id", _ID),
    sa.Column("timeout_mins", sa.Integer),
    sa.Column("disable_rollback", sa.Boolean, nullable=False),
    _column("tags", Kind.LIST),
    sa.Column("parent_id", _ID, index=True),
    sa.Column("parent_resource", _NAME),
    sa.Column("parent_resource_id", _ID),
    sa.Column("root_id", _ID),
    sa.Column("depth", sa.Integer, nullable=False),
    sa.UniqueConstraint("project_id", "live_name"),
    sa.Index("ix_stacks_list", "project_id", "deleted_at", "created_at", "id"),
    sa.Index("ix_stacks_all", "created_at", "id"),
    sa.Index("ix_stacks_deleted", "deleted_at"),
    sa.Index("ix_stacks_users", "user_project_id", "name"),
    sa.Index("ix_stacks_root", "root_id"),
)

trusts = sa.Table(
    "trusts",
    metadata,
    sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
    sa.Column("trust_id", _ID, nullable=False, unique=True),
    sa.Column("project_id", _ID, nullable=False),
    sa.Column("user_id", _ID, nullable=False),
    sa.Column("trustee_id", _ID, nullable=False),
    sa.Column("roles", _TEXT, nullable=False),
    sa.Column("replaced_by", _ID),
    sa.Column("retired", sa.Boolean, nullable=False),
    sa.Index("ix_trusts_owner", "project_id", "user_id"),
    comment="trusts in the identity service that stacks act by",
)

marks = sa.Table(
    "marks",
    metadata,
    sa.Column("name", _WORD, primary_key=True),
    sa.Column("value", _TEXT, nullable=False),
    comment="what holds for the whole database",
)

_open_index = sa.Index("ix_operations_open", "stack_id")
operations = sa.Table(
    "operations",
    metadata,
    sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
    sa.Column("id", _ID, nullable=False, unique=True),
    sa.Column("stack_id", _ID, nullable=False, index=True),
    _column("action", Kind.ACTION),
    _column("status", Kind.STATUS),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("input_id", _ID),
    sa.Column("deadline", sa.Float),
    _column("plan", Kind.PLAN, nullable=True),
    sa.Column("reason", _TEXT, nullable=False),
    sa.Column("back_to", _ID),
    sa.Column("parent_operation", _ID),
    sa.Column("cancels", _ID),
    sa.Column("kind", _WORD, nullable=False, server_default="change"),
    _column("request", Kind.REQUEST, server_default='{"kind": "change"}'),
    sa.Column("request_id", _ID, comment="by which all services know the request that made it"),
    sa.Column("client_token", _CLIENT_TOKEN, index=True),
    sa.Column("client_digest", sa.String(64), comment="of what was asked for with the token"),
    _open_index,
)


_objects_index = sa.Index("ix_resources_physical_id", "physical_id")
resources = sa.Table(
    "resources",
    metadata,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("stack_id", _ID, nullable=False),
    sa.Column("name", _NAME, nullable=False),
    sa.Column("type_name", _TEXT, nullable=False),
    sa.Column("token", _WORD, nullable=False),
    sa.Column("implementation", _TEXT, nullable=False),
    _column("action", Kind.ACTION),
    _column("status", Kind.STATUS),
    sa.Column("reason", _TEXT, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("updated_at", sa.Float, nullable=False),
    sa.Column("physical_id", _TEXT),
    _column("properties", Kind.ENCRYPTED),
    _column("metadata", Kind.ENCRYPTED),
    _column("attributes", Kind.ENCRYPTED),
    _column("data", Kind.ENCRYPTED),
    _column("progress", Kind.JSON),
    _column("requires", Kind.LIST),
    _column("needs", Kind.LIST, key="dependencies"),
    sa.Column("deletion_policy", _WORD, nullable=False),
    _column("update_policy", Kind.JSON),
    sa.Column("operation_id", _ID),
    sa.Column("action_started_at", sa.Float),
    _column("asked", Kind.LIST, server_default="[]"),
    _column("dirty", Kind.LIST),
    sa.Column("replaced_by", _ID),
    sa.Column("external", sa.Boolean, nullable=False),
    sa.Column("unhealthy", sa.Boolean, nullable=False),
    sa.Column("description", _TEXT, nullable=False),
    sa.Column("nested_id", _ID),
    _column("hook", Kind.JSON, server_default="{}"),
    _column("origin", Kind.JSON, server_default="{}"),
    _size(),
    sa.Index("ix_resources_sizes", "stack_id", "size"),
    _objects_index,
)


def _describe_indexes(_: sa.Table, connection: sa.Connection, **_options: Any) -> None:
    """Set the options of indexes that only this database has.

    To name a dialect imports it, and that of PostgreSQL takes a twentieth of the service's start.
    """
    dialect, open_ = connection.dialect.name, sa.text("status IN ('WAITING', 'RUNNING')")
    _open_index.dialect_kwargs[f"{dialect}_where"] = open_
    if dialect == "postgresql":
        # A usual index refuses texts that are longer than a third of a page.
        _objects_index.dialect_kwargs["postgresql_using"] = "hash"


for _table in (operations, resources):
    sa.event.listen(_table, "before_create", _describe_indexes)

events = sa.Table(
    "events",
    metadata,
    sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
    sa.Column("id", _ID, nullable=False, index=True),
    sa.Column("stack_id", _ID, nullable=False),
    sa.Column("time", sa.Float, nullable=False),
    _column("action", Kind.ACTION),
    _column("status", Kind.STATUS),
    sa.Column("reason", _TEXT, nullable=False),
    sa.Column("resource_name", _NAME, nullable=False),
    sa.Column("resource_type", _TEXT, nullable=False),
    sa.Column("resource_id", _ID),
    sa.Column("physical_id", _TEXT),
    _column("properties", Kind.ENCRYPTED, nullable=True),
    sa.Column("client_token", _CLIENT_TOKEN),
    _size(),
    sa.Index("ix_events_sizes", "stack_id", "number", "size"),
)

signals = sa.Table(
    "signals",
    metadata,
    sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
    sa.Column("id", _ID, nullable=False, unique=True),
    sa.Column("stack_id", _ID, nullable=False),
    sa.Column("resource_id", _ID, nullable=False),
    sa.Column("received_at", sa.Float, nullable=False),
    _column("details", Kind.ENCRYPTED),
    _size(),
    sa.Index("ix_signals_stack_sizes", "stack_id", "size"),
    sa.Index("ix_signals_resource_sizes", "resource_id", "size"),
)

watches = sa.Table(
    "watches",
    metadata,
    sa.Column("resource_id", _ID, primary_key=True),
    sa.Column("stack_id", _ID, nullable=False),
    sa.Column("name", _NAME, nullable=False),
    sa.Column("namespace", _TEXT, nullable=False),
    sa.Column("metric", _TEXT, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("next_at", sa.Float, nullable=False, index=True),
    sa.Column("state", _WORD, nullable=False),
    sa.Column("reason", _TEXT, nullable=False),
    sa.Column("changed_at", sa.Float),
    sa.Column("acts", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.Index("ix_watches_stack", "stack_id"),
    comment="timers of watch rules, which their resources describe",
)

measurements = sa.Table(
    "measurements",
    metadata,
    sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
    sa.Column("resource_id", _ID, nullable=False),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("total", sa.Float, nullable=False),
    sa.Column("unit", _TEXT),
    sa.Column("count", sa.Float, nullable=False, server_default="1"),
    sa.Column("least", sa.Float),
    sa.Column("most", sa.Float),
    sa.Index("ix_measurements_watch", "resource_id", "at"),
    comment="what was measured for watches",
)

software_configs = sa.Table(
    "software_configs",
    metadata,
    sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
    sa.Column("id", _ID, nullable=False, unique=True),
    sa.Column("project_id", _ID, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    _column("name", Kind.JSON),
    _column("group", Kind.JSON),
    _size(),  # before the content: it is read by id, for which no index with it is used
    _column("content", Kind.ENCRYPTED),
    sa.Index("ix_software_configs_sizes", "project_id", "size"),
    comment="content is the config with its inputs, outputs and options",
)

software_deployments = sa.Table(
    "software_deployments",
    metadata,
    sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
    sa.Column("id", _ID, nullable=False, unique=True),
    sa.Column("project_id", _ID, nullable=False),
    sa.Column("stack_id", _ID),
    sa.Column("config_id", _ID, nullable=False, index=True),
    sa.Column("server_id", _NAME, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("updated_at", sa.Float),
    _column("content", Kind.ENCRYPTED),
    _size(),
    sa.Index("ix_software_deployments_server", "project_id", "server_id"),
    sa.Index("ix_software_deployments_sizes", "project_id", "size"),
    comment="content is the state with the values of inputs and outputs",
)

snapshots = sa.Table(
    "snapshots",
    metadata,
    sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
    sa.Column("id", _ID, nullable=False, unique=True),
    sa.Column("stack_id", _ID, nullable=False, index=True),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("input_id", _ID, nullable=False),
    sa.Column("operation_id", _ID, nullable=False),
    sa.Column("name", _NAME),
    _column("status", Kind.STATUS),
    sa.Column("reason", _TEXT),
    _column("stack_state", Kind.JSON),
)

snapshot_parts = sa.Table(
    "snapshot_parts",
    metadata,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("snapshot_id", _ID, nullable=False, index=True),
    _column("path", Kind.LIST),
    sa.Column("object_name", _TEXT, nullable=False),
    sa.Column("row_id", _ID, nullable=False),
    sa.Column("type_name", _TEXT, nullable=False),
    sa.Column("implementation", _TEXT, nullable=False),
    sa.Column("physical_id", _TEXT),
    sa.Column("nested_id", _ID, index=True),
    _column("metadata", Kind.ENCRYPTED),
    _column("data", Kind.ENCRYPTED),
    sa.Column("asked", sa.Boolean, nullable=False),
    sa.Column("complete", sa.Boolean, nullable=False),
    comment="what a snapshot holds of each resource",
)

change_sets = sa.Table(
    "change_sets",
    metadata,
    sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
    sa.Column("id", _ID, nullable=False, unique=True),
    sa.Column("stack_id", _ID, nullable=False),
    sa.Column("name", _NAME, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("description", _TEXT, nullable=False),
    sa.Column("makes", sa.Boolean, nullable=False),
    sa.Column("fault", _TEXT, nullable=False),
    sa.Column("fingerprint", _TEXT, nullable=False),
    sa.Column("operation_id", _ID),
    sa.Column("client_token", _CLIENT_TOKEN),
    sa.Column("client_digest", sa.String(64)),
    _column("request", Kind.ENCRYPTED),
    _column("shown", Kind.ENCRYPTED),
    sa.UniqueConstraint("stack_id", "name"),
    comment="requests that wait to be carried out, with what they would do",
)

protections = sa.Table(
    "protections",
    metadata,
    sa.Column("stack_id", _ID, primary_key=True),
    sa.Column("keeps", sa.Boolean, nullable=False, comment="the stack is not deleted"),
    _column("policy", Kind.JSON),
    comment="what users set to protect their stacks",
)

event_sinks = sa.Table(
    "event_sinks",
    metadata,
    sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
    sa.Column("input_id", _ID, nullable=False, index=True),
    sa.Column("type", _WORD, nullable=False),
    sa.Column("target", _NAME, nullable=False),
    sa.Column("ttl", sa.Integer, nullable=False),
    comment="where the environments of inputs want events",
)

messages = sa.Table(
    "messages",
    metadata,
    sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
    sa.Column("id", _ID, nullable=False),
    sa.Column("channel", _WORD, nullable=False),
    sa.Column("lane", _TEXT, nullable=False),
    sa.Column("stack_id", _ID, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    _column("body", Kind.ENCRYPTED),
    sa.Index("ix_messages_channel", "channel", "number"),
    comment="what is to be told outside, until it has been",
)

detections = sa.Table(
    "detections",
    metadata,
    sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
    sa.Column("id", _ID, nullable=False, unique=True),
    sa.Column("stack_id", _ID, nullable=False, index=True),
    sa.Column("started_at", sa.Float, nullable=False),
    sa.Column("ended_at", sa.Float),
    sa.Column("fault", _TEXT, nullable=False),
    _column("found", Kind.ENCRYPTED),
    comment="looks at live objects, and what they have found",
)

exports = sa.Table(
    "exports",
    metadata,
    sa.Column("project_id", _ID, primary_key=True),
    sa.Column("name", _NAME, primary_key=True),
    sa.Column("stack_id", _ID, nullable=False, index=True),
    sa.Column("stack_name", _NAME, nullable=False),
    _column("value", Kind.ENCRYPTED),
    comment="outputs that other stacks of the project use",
)

imports = sa.Table(
    "imports",
    metadata,
    sa.Column("input_id", _ID, primary_key=True),
    sa.Column("name", _NAME, primary_key=True),
    sa.Column("stack_id", _ID, nullable=False),
    sa.Index("ix_imports_name", "name"),
    comment="exports that inputs of stacks use",
)

engines = sa.Table(
    "engines",
    metadata,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("host", _NAME, nullable=False),
    sa.Column("process", sa.Integer, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("updated_at", sa.Float, nullable=False),
    comment="the engines that share the work, as each has told of itself",
)
