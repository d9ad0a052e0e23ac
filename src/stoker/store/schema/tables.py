"""The tables, and the records that are stored in them.

A row of a table is one record of :mod:`stoker.engine.model`. :data:`RECORDS` names the table of
each kind of record; its order is the order in which a transaction writes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from msgspec import Struct

from stoker.engine.model.records import (
    Event,
    Input,
    Message,
    Operation,
    OperationStatus,
    Resource,
    Stack,
    StoredSignal,
)
from stoker.engine.model.stack_records.change_sets import (
    ChangeSet,
    ChangeSetExecution,
    Detection,
    Protection,
)
from stoker.engine.model.stack_records.exports import Export, Exports
from stoker.engine.model.stack_records.refactors import StoredRefactor
from stoker.engine.model.stack_records.revisions import StackRevision
from stoker.engine.model.stack_records.snapshots import Snapshot, SnapshotPart
from stoker.engine.model.stack_records.watches import Watch, WatchDefinition, WatchMeasurement
from stoker.schema.software import Deployment, SoftwareConfig
from stoker.store.schema.columns import (
    CLIENT_TOKEN,
    ID,
    NAME,
    NUMBER,
    TEXT,
    WORD,
    Kind,
    RecordTable,
    column,
    size,
)
from stoker.store.schema.columns import metadata as metadata
from stoker.store.schema.service_tables import engines as engines
from stoker.store.schema.service_tables import marks as marks
from stoker.store.schema.service_tables import takeovers as takeovers
from stoker.store.schema.service_tables import trusts as trusts

# Statuses of operations that have not ended. As text, this is a list of SQL.
OPEN = tuple(status.value for status in OperationStatus if not status.final)

DETECTIONS_KEPT = 20  # of each stack
MEASUREMENTS_KEPT = 5000  # of each watch

contents = sa.Table(
    "contents",
    metadata,
    sa.Column("hash", sa.String(64), primary_key=True),
    sa.Column("body", TEXT, nullable=False),
    comment="templates, environments and files, each once, by SHA-256; encrypted",
)

inputs = sa.Table(
    "inputs",
    metadata,
    sa.Column("id", ID, primary_key=True),
    sa.Column("stack_id", ID, nullable=False, index=True),
    sa.Column("template", sa.String(64), nullable=False, index=True),
    sa.Column("text", sa.String(64), index=True),
    sa.Column("environment", sa.String(64), nullable=False, index=True),
    sa.Column("files", sa.String(64), nullable=False, index=True),
    column("parameters", Kind.ENCRYPTED),
    sa.Column("template_file", TEXT),
    column("facade", Kind.JSON),
    column("adopted", Kind.ENCRYPTED, server_default="{}"),
    column("imports", Kind.ENCRYPTED, server_default="{}"),
    comment="template, text, environment and files are hashes of contents",
)

stacks = sa.Table(
    "stacks",
    metadata,
    sa.Column("id", ID, primary_key=True),
    sa.Column("project_id", ID, nullable=False),
    sa.Column("name", NAME, nullable=False),
    sa.Column("live_name", NAME, comment="the name while the stack is live and not nested"),
    column("action", Kind.ACTION),
    column("status", Kind.STATUS),
    sa.Column("reason", TEXT, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("updated_at", sa.Float),
    sa.Column("deleted_at", sa.Float),
    sa.Column("epoch", sa.Integer, key="fencing_token", nullable=False),
    sa.Column("take_ups", sa.Integer, nullable=False, server_default="0"),
    sa.Column("handed_over", sa.Integer, comment="the token of who has let go of it in order"),
    sa.Column("taken_for", ID, comment="the operation that it was last taken up for"),
    sa.Column("taken_event", NUMBER, comment="the number of its last event by then"),
    sa.Column("input_id", ID, nullable=False),
    sa.Column("good_input_id", ID),
    sa.Column("description", TEXT, nullable=False),
    sa.Column("user_id", ID, nullable=False),
    sa.Column("user_name", NAME, nullable=False),
    column("credentials", Kind.ENCRYPTED),
    sa.Column("user_project_id", ID),
    sa.Column("timeout_mins", sa.Integer),
    sa.Column("disable_rollback", sa.Boolean, nullable=False),
    column("tags", Kind.LIST),
    sa.Column("parent_id", ID, index=True),
    sa.Column("parent_resource", NAME),
    sa.Column("parent_resource_id", ID),
    sa.Column("root_id", ID),
    sa.Column("depth", sa.Integer, nullable=False),
    sa.Column("is_import", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("is_namesake", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.UniqueConstraint("project_id", "live_name"),
    sa.Index("ix_stacks_list", "project_id", "deleted_at", "created_at", "id"),
    sa.Index("ix_stacks_all", "created_at", "id"),
    sa.Index("ix_stacks_deleted", "deleted_at"),
    sa.Index("ix_stacks_users", "user_project_id", "name"),
    sa.Index("ix_stacks_root", "root_id"),
)

_open_index = sa.Index("ix_operations_open", "stack_id")
operations = sa.Table(
    "operations",
    metadata,
    sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
    sa.Column("id", ID, nullable=False, unique=True),
    sa.Column("stack_id", ID, nullable=False, index=True),
    column("action", Kind.ACTION),
    column("status", Kind.STATUS),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("input_id", ID),
    sa.Column("deadline", sa.Float),
    column("plan", Kind.PLAN, nullable=True),
    sa.Column("reason", TEXT, nullable=False),
    sa.Column("back_to", ID),
    sa.Column("parent_operation", ID),
    sa.Column("cancels", ID),
    sa.Column("kind", WORD, nullable=False, server_default="change"),
    column("request", Kind.REQUEST, server_default='{"kind": "change"}'),
    sa.Column("request_id", ID, comment="by which all services know the request that made it"),
    sa.Column("client_token", CLIENT_TOKEN, index=True),
    sa.Column("client_digest", sa.String(64), comment="of what was asked for with the token"),
    _open_index,
)


_objects_index = sa.Index("ix_resources_physical_id", "physical_id")
resources = sa.Table(
    "resources",
    metadata,
    sa.Column("id", ID, primary_key=True),
    sa.Column("stack_id", ID, nullable=False),
    sa.Column("name", NAME, nullable=False),
    sa.Column("type_name", TEXT, nullable=False),
    sa.Column("token", WORD, nullable=False),
    sa.Column("implementation", TEXT, nullable=False),
    column("action", Kind.ACTION),
    column("status", Kind.STATUS),
    sa.Column("reason", TEXT, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("updated_at", sa.Float, nullable=False),
    sa.Column("physical_id", TEXT),
    column("properties", Kind.ENCRYPTED),
    column("metadata", Kind.ENCRYPTED),
    column("attributes", Kind.ENCRYPTED),
    column("data", Kind.ENCRYPTED),
    column("progress", Kind.JSON),
    column("requires", Kind.LIST),
    column("needs", Kind.LIST, key="dependencies"),
    sa.Column("deletion_policy", WORD, nullable=False),
    column("update_policy", Kind.JSON),
    sa.Column("operation_id", ID),
    sa.Column("action_started_at", sa.Float),
    column("asked", Kind.LIST, server_default="[]"),
    column("dirty", Kind.LIST),
    sa.Column("replaced_by", ID),
    sa.Column("external", sa.Boolean, nullable=False),
    sa.Column("unhealthy", sa.Boolean, nullable=False),
    sa.Column("description", TEXT, nullable=False),
    sa.Column("nested_id", ID),
    column("hook", Kind.JSON, server_default="{}"),
    column("origin", Kind.JSON, server_default="{}"),
    column("former_names", Kind.JSON, server_default="{}"),
    size(),
    sa.Index("ix_resources_sizes", "stack_id", "size"),
    _objects_index,
)


def _describe_indexes(_: sa.Table, connection: sa.Connection, **_options: Any) -> None:
    """Set the options of indexes that only this database has.

    To name a dialect imports it, and that of PostgreSQL takes a twentieth of the service's start.
    """
    dialect, open_ = connection.dialect.name, sa.text(f"status IN {OPEN}")
    _open_index.dialect_kwargs[f"{dialect}_where"] = open_
    if dialect == "postgresql":
        # A usual index refuses texts that are longer than a third of a page.
        _objects_index.dialect_kwargs["postgresql_using"] = "hash"


for _table in (operations, resources):
    sa.event.listen(_table, "before_create", _describe_indexes)

events = sa.Table(
    "events",
    metadata,
    sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
    sa.Column("id", ID, nullable=False, index=True),
    sa.Column("stack_id", ID, nullable=False),
    sa.Column("time", sa.Float, nullable=False),
    column("action", Kind.ACTION),
    column("status", Kind.STATUS),
    sa.Column("reason", TEXT, nullable=False),
    sa.Column("resource_name", NAME, nullable=False),
    sa.Column("resource_type", TEXT, nullable=False),
    sa.Column("resource_id", ID),
    sa.Column("physical_id", TEXT),
    column("properties", Kind.ENCRYPTED, nullable=True),
    sa.Column("client_token", CLIENT_TOKEN),
    size(),
    sa.Index("ix_events_sizes", "stack_id", "number", "size"),
)

signals = sa.Table(
    "signals",
    metadata,
    sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
    sa.Column("id", ID, nullable=False, unique=True),
    sa.Column("stack_id", ID, nullable=False),
    sa.Column("resource_id", ID, nullable=False),
    sa.Column("received_at", sa.Float, nullable=False),
    column("details", Kind.ENCRYPTED),
    size(),
    sa.Index("ix_signals_stack_sizes", "stack_id", "size"),
    sa.Index("ix_signals_resource_sizes", "resource_id", "size"),
)

watches = sa.Table(
    "watches",
    metadata,
    sa.Column("resource_id", ID, primary_key=True),
    sa.Column("stack_id", ID, nullable=False),
    sa.Column("name", NAME, nullable=False),
    sa.Column("namespace", TEXT, nullable=False),
    sa.Column("metric", TEXT, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("next_at", sa.Float, nullable=False, index=True),
    sa.Column("state", WORD, nullable=False),
    sa.Column("reason", TEXT, nullable=False),
    sa.Column("changed_at", sa.Float),
    sa.Column("acts", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.Index("ix_watches_stack", "stack_id"),
    comment="timers of watch rules, which their resources describe",
)

measurements = sa.Table(
    "measurements",
    metadata,
    sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
    sa.Column("resource_id", ID, nullable=False),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("total", sa.Float, nullable=False),
    sa.Column("unit", TEXT),
    sa.Column("count", sa.Float, nullable=False, server_default="1"),
    sa.Column("least", sa.Float),
    sa.Column("most", sa.Float),
    sa.Index("ix_measurements_watch", "resource_id", "at"),
    comment="what was measured for watches",
)

software_configs = sa.Table(
    "software_configs",
    metadata,
    sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
    sa.Column("id", ID, nullable=False, unique=True),
    sa.Column("project_id", ID, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    column("name", Kind.ANY_JSON),
    column("group", Kind.ANY_JSON),
    size(),  # before the content: it is read by id, for which no index with it is used
    column("content", Kind.ENCRYPTED),
    sa.Index("ix_software_configs_sizes", "project_id", "size"),
    comment="content is the config with its inputs, outputs and options",
)

software_deployments = sa.Table(
    "software_deployments",
    metadata,
    sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
    sa.Column("id", ID, nullable=False, unique=True),
    sa.Column("project_id", ID, nullable=False),
    sa.Column("stack_id", ID),
    sa.Column("config_id", ID, nullable=False, index=True),
    sa.Column("server_id", NAME, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("updated_at", sa.Float),
    column("content", Kind.ENCRYPTED),
    size(),
    sa.Index("ix_software_deployments_server", "project_id", "server_id"),
    sa.Index("ix_software_deployments_sizes", "project_id", "size"),
    comment="content is the state with the values of inputs and outputs",
)

snapshots = sa.Table(
    "snapshots",
    metadata,
    sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
    sa.Column("id", ID, nullable=False, unique=True),
    sa.Column("stack_id", ID, nullable=False, index=True),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("input_id", ID, nullable=False),
    sa.Column("operation_id", ID, nullable=False),
    sa.Column("name", NAME),
    column("status", Kind.STATUS),
    sa.Column("reason", TEXT),
    column("stack_state", Kind.JSON),
)

snapshot_parts = sa.Table(
    "snapshot_parts",
    metadata,
    sa.Column("id", ID, primary_key=True),
    sa.Column("snapshot_id", ID, nullable=False, index=True),
    column("path", Kind.LIST),
    sa.Column("object_name", TEXT, nullable=False),
    sa.Column("row_id", ID, nullable=False),
    sa.Column("type_name", TEXT, nullable=False),
    sa.Column("implementation", TEXT, nullable=False),
    sa.Column("physical_id", TEXT),
    sa.Column("nested_id", ID, index=True),
    column("metadata", Kind.ENCRYPTED),
    column("data", Kind.ENCRYPTED),
    sa.Column("asked", sa.Boolean, nullable=False),
    sa.Column("complete", sa.Boolean, nullable=False),
    comment="what a snapshot holds of each resource",
)

change_sets = sa.Table(
    "change_sets",
    metadata,
    sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
    sa.Column("id", ID, nullable=False, unique=True),
    sa.Column("stack_id", ID, nullable=False),
    sa.Column("name", NAME, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("description", TEXT, nullable=False),
    sa.Column("makes", sa.Boolean, nullable=False),
    sa.Column("fault", TEXT, nullable=False),
    sa.Column("fingerprint", TEXT, nullable=False),
    sa.Column("operation_id", ID),
    sa.Column("client_token", CLIENT_TOKEN),
    sa.Column("client_digest", sa.String(64)),
    column("request", Kind.ENCRYPTED),
    column("shown", Kind.ENCRYPTED),
    sa.UniqueConstraint("stack_id", "name"),
    comment="requests that wait to be carried out, with what they would do",
)

stack_refactors = sa.Table(
    "stack_refactors",
    metadata,
    sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
    sa.Column("id", ID, nullable=False, unique=True),
    sa.Column("project_id", ID, nullable=False, index=True),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("description", TEXT, nullable=False),
    sa.Column("fault", TEXT, nullable=False),
    sa.Column("state", WORD, nullable=False),
    sa.Column("reason", TEXT, nullable=False),
    column("request", Kind.ENCRYPTED),
    column("shown", Kind.ENCRYPTED),
)

protections = sa.Table(
    "protections",
    metadata,
    sa.Column("stack_id", ID, primary_key=True),
    sa.Column("keeps", sa.Boolean, nullable=False, comment="the stack is not deleted"),
    column("policy", Kind.JSON),
    comment="what users set to protect their stacks",
)

event_sinks = sa.Table(
    "event_sinks",
    metadata,
    sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
    sa.Column("input_id", ID, nullable=False, index=True),
    sa.Column("type", WORD, nullable=False),
    sa.Column("target", NAME, nullable=False),
    sa.Column("ttl", sa.Integer, nullable=False),
    comment="where the environments of inputs want events",
)

messages = sa.Table(
    "messages",
    metadata,
    sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
    sa.Column("id", ID, nullable=False),
    sa.Column("channel", WORD, nullable=False),
    sa.Column("lane", TEXT, nullable=False),
    sa.Column("stack_id", ID, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    column("body", Kind.ENCRYPTED),
    sa.Index("ix_messages_channel", "channel", "number"),
    comment="what is to be told outside, until it has been",
)

detections = sa.Table(
    "detections",
    metadata,
    sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
    sa.Column("id", ID, nullable=False, unique=True),
    sa.Column("stack_id", ID, nullable=False, index=True),
    sa.Column("started_at", sa.Float, nullable=False),
    sa.Column("ended_at", sa.Float),
    sa.Column("fault", TEXT, nullable=False),
    column("found", Kind.ENCRYPTED),
    comment="looks at live objects, and what they have found",
)

exports = sa.Table(
    "exports",
    metadata,
    sa.Column("project_id", ID, primary_key=True),
    sa.Column("name", NAME, primary_key=True),
    sa.Column("stack_id", ID, nullable=False, index=True),
    sa.Column("stack_name", NAME, nullable=False),
    column("value", Kind.ENCRYPTED),
    comment="outputs that other stacks of the project use",
)

imports = sa.Table(
    "imports",
    metadata,
    sa.Column("input_id", ID, primary_key=True),
    sa.Column("name", NAME, primary_key=True),
    sa.Column("stack_id", ID, nullable=False),
    sa.Index("ix_imports_name", "name"),
    comment="exports that inputs of stacks use",
)

_OF_WATCH = (watches.c.resource_id, measurements.c.resource_id)

# The kinds of records, in the order in which a transaction writes them, so that all transactions
# lock rows in one order. Drops follow all puts, in the same order.
RECORDS: Mapping[type[Struct], RecordTable] = {
    Input: RecordTable(inputs),
    Stack: RecordTable(stacks, "id", keep=("fencing_token",)),
    StackRevision: RecordTable(stacks, "id"),
    Operation: RecordTable(operations, "id"),
    Resource: RecordTable(
        resources, "id", dropped=(resources.c.id, signals.c.resource_id, *_OF_WATCH)
    ),
    StoredSignal: RecordTable(signals, dropped=(signals.c.id,)),
    Snapshot: RecordTable(snapshots, "id", dropped=(snapshots.c.id,)),
    SnapshotPart: RecordTable(snapshot_parts, "id", dropped=(snapshot_parts.c.id,)),
    # Before the configs, which are dropped only if no deployment refers to them.
    Deployment: RecordTable(
        software_deployments,
        "id",
        keep=("project_id", "created_at"),
        packed={"content": ("action", "status", "reason", "input_values", "output_values")},
        dropped=(software_deployments.c.id,),
    ),
    SoftwareConfig: RecordTable(
        software_configs,
        "id",
        keep=("project_id", "created_at"),
        packed={"content": ("config", "inputs", "outputs", "options")},
        dropped=(software_configs.c.id,),
        unless_in=software_deployments.c.config_id,
    ),
    # An evaluation overwrites the whole row, so it must not follow a change of the definition.
    Watch: RecordTable(watches, "resource_id", dropped=_OF_WATCH),
    WatchDefinition: RecordTable(
        watches, "resource_id", keep=("state", "reason", "changed_at", "created_at", "acts")
    ),
    WatchMeasurement: RecordTable(
        measurements, newest=(measurements.c.resource_id, MEASUREMENTS_KEPT)
    ),
    Exports: RecordTable(exports),
    Export: RecordTable(exports, packed={"value": ("value",)}),
    ChangeSet: RecordTable(change_sets, dropped=(change_sets.c.id,)),
    ChangeSetExecution: RecordTable(change_sets),
    StoredRefactor: RecordTable(stack_refactors, "id", newest=(stack_refactors.c.project_id, 100)),
    Protection: RecordTable(protections, "stack_id"),
    Detection: RecordTable(detections, "id", newest=(detections.c.stack_id, DETECTIONS_KEPT)),
    # A transaction with the lock of the event numbers must not wait for other locks.
    Message: RecordTable(messages),
    Event: RecordTable(events),
}
