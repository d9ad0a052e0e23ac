"""The tables and columns of Heat's database, releases 13 (Stein) to 27.

:data:`TABLES` names every table and column, with the place that it is carried over to, or the
reason why it is not. :func:`schema_of` compares it with the tables of a database: differences
between releases are found in the tables themselves, not in a version number. A table or column that
is unknown here, or missing, rejects the database before anything is read from it.

``docs/operate/takeover.md`` has the same table. Tested by tests/takeover/test_schema.py.
"""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa
from msgspec import Struct

from stoker.takeover.errors import UnknownSchemaError


class HeatColumn(Struct, frozen=True):
    """A column of a table of Heat."""

    carried: str  # where its values are carried over to; empty if they are not
    reason: str = ""  # why they are not carried over
    is_required: bool = True  # whether all releases from 13 to 27 have it


def _to(place: str, *, is_required: bool = True) -> HeatColumn:
    return HeatColumn(place, "", is_required)


def _not(reason: str, *, is_required: bool = True) -> HeatColumn:
    return HeatColumn("", reason, is_required)


_KEY = _not("joins the rows of Heat's tables")
_WRITTEN = _not("time of the row, which no API shows")
_CONVERGENCE = _not("work of the last operation in progress, which ends as failed")
_SERVICE = _not("processes of Heat report here; Stoker's have records of their own")

TABLES: Mapping[str, Mapping[str, HeatColumn]] = {
    "stack": {
        "id": _to("stacks.id"),
        "created_at": _to("stacks.created_at"),
        "updated_at": _to("stacks.updated_at"),
        "deleted_at": _to("stacks.deleted_at, with --with-deleted"),
        "name": _to("stacks.name"),
        "raw_template_id": _to("stacks.input_id"),
        "prev_raw_template_id": _to("stacks.good_input_id"),
        "user_creds_id": _to("stacks.credentials"),
        "username": _to("stacks.user_name"),
        "owner_id": _to("stacks.parent_id, stacks.root_id"),
        "action": _to("stacks.action"),
        "status": _to("stacks.status"),
        "status_reason": _to("stacks.reason"),
        "timeout": _to("stacks.timeout_mins"),
        "tenant": _to("stacks.project_id"),
        "disable_rollback": _to("stacks.disable_rollback"),
        "stack_user_project_id": _to("stacks.user_project_id"),
        "backup": _not("a backup stack of the engine before convergence has no API of its own"),
        "nested_depth": _to("stacks.depth"),
        "convergence": _not("only says which of Heat's two engines made the stack"),
        "current_traversal": _CONVERGENCE,
        "current_deps": _CONVERGENCE,
        "parent_resource_name": _to("stacks.parent_resource"),
    },
    "stack_tag": {
        "id": _KEY,
        "created_at": _WRITTEN,
        "updated_at": _WRITTEN,
        "tag": _to("stacks.tags"),
        "stack_id": _to("stacks.tags"),
    },
    "stack_lock": {
        "stack_id": _not("an engine of Heat works on the stack; its operation ends as failed"),
        "created_at": _WRITTEN,
        "updated_at": _WRITTEN,
        "engine_id": _SERVICE,
    },
    "raw_template": {
        "id": _KEY,
        "created_at": _WRITTEN,
        "updated_at": _WRITTEN,
        "template": _to("inputs.template"),
        "files": _to("inputs.files"),
        "environment": _to("inputs.environment, inputs.parameters"),
        "files_id": _to("inputs.files"),
        "predecessor": _not("a link that no release has used", is_required=False),
    },
    "raw_template_files": {
        "id": _KEY,
        "files": _to("inputs.files"),
        "created_at": _WRITTEN,
        "updated_at": _WRITTEN,
    },
    "user_creds": {
        "id": _KEY,
        "created_at": _WRITTEN,
        "updated_at": _WRITTEN,
        "username": _to("stacks.credentials"),
        "password": _to("stacks.credentials"),
        "region_name": _not("the service has one region; other regions are in the template"),
        "decrypt_method": _not("the values are encrypted again with Stoker's key"),
        "tenant": _not("name of the project, which follows from its id"),
        "auth_url": _not("the service has one Keystone"),
        "tenant_id": _to("stacks.credentials, trusts.project_id"),
        "trust_id": _to("stacks.credentials, trusts.trust_id"),
        "trustor_user_id": _to("stacks.user_id, trusts.user_id"),
    },
    "resource": {
        "id": _KEY,
        "uuid": _to("resources.id"),
        "nova_instance": _to("resources.physical_id, resources.nested_id"),
        "name": _to("resources.name"),
        "created_at": _to("resources.created_at"),
        "updated_at": _to("resources.updated_at"),
        "action": _to("resources.action"),
        "status": _to("resources.status"),
        "status_reason": _to("resources.reason"),
        "stack_id": _to("resources.stack_id"),
        "rsrc_metadata": _to("resources.metadata, signals.details, resources.data of groups"),
        "properties_data": _to("resources.properties, of rows before release 9"),
        "engine_id": _CONVERGENCE,
        "atomic_key": _CONVERGENCE,
        "needed_by": _not("the reverse of requires"),
        "requires": _to("resources.requires"),
        "replaces": _to("resources.replaced_by of the replaced row"),
        "replaced_by": _to("resources.replaced_by"),
        "current_template_id": _to("resources.type_name and others, as that template has them"),
        "properties_data_encrypted": _to("resources.properties, of rows before release 9"),
        "root_stack_id": _to("stacks.root_id"),
        "rsrc_prop_data_id": _to("resources.properties"),
        "attr_data_id": _to("resources.attributes"),
    },
    "resource_properties_data": {
        "id": _KEY,
        "data": _to("resources.properties, resources.attributes, events.properties"),
        "encrypted": _not("the values are encrypted again with Stoker's key"),
        "created_at": _WRITTEN,
        "updated_at": _WRITTEN,
    },
    "resource_data": {
        "id": _KEY,
        "created_at": _WRITTEN,
        "updated_at": _WRITTEN,
        "key": _to("resources.data"),
        "value": _to("resources.data"),
        "redact": _not("all of resources.data is encrypted"),
        "decrypt_method": _not("the values are encrypted again with Stoker's key"),
        "resource_id": _to("resources.data"),
    },
    "event": {
        "id": _to("events.number, as their order"),
        "uuid": _to("events.id"),
        "stack_id": _to("events.stack_id"),
        "created_at": _to("events.time"),
        "updated_at": _WRITTEN,
        "resource_action": _to("events.action"),
        "resource_status": _to("events.status"),
        "resource_name": _to("events.resource_name"),
        "physical_resource_id": _to("events.physical_id"),
        "resource_status_reason": _to("events.reason"),
        "resource_type": _to("events.resource_type"),
        "resource_properties": _to("events.properties, of events before release 9"),
        "rsrc_prop_data_id": _to("events.properties"),
    },
    "snapshot": {
        "id": _to("snapshots.id"),
        "stack_id": _to("snapshots.stack_id"),
        "name": _to("snapshots.name"),
        "created_at": _to("snapshots.created_at"),
        "updated_at": _WRITTEN,
        "status": _to("snapshots.status"),
        "status_reason": _to("snapshots.reason"),
        "data": _to("snapshots.input_id, snapshots.stack_state, snapshot_parts"),
        "tenant": _to("stacks.project_id"),
        "action": _to("snapshots.stack_state", is_required=False),
    },
    "resource_snapshot": {
        "id": _not("a part of a snapshot is found by its path", is_required=False),
        "snapshot_id": _to("snapshot_parts.snapshot_id", is_required=False),
        "resource_name": _to("snapshot_parts.path", is_required=False),
        "created_at": _not("time of the row, which no API shows", is_required=False),
        "updated_at": _not("time of the row, which no API shows", is_required=False),
        "data": _to("snapshot_parts.data", is_required=False),
    },
    "software_config": {
        "id": _to("software_configs.id"),
        "created_at": _to("software_configs.created_at"),
        "updated_at": _WRITTEN,
        "name": _to("software_configs.name"),
        "group": _to("software_configs.group"),
        "config": _to("software_configs.content"),
        "tenant": _to("software_configs.project_id"),
    },
    "software_deployment": {
        "id": _to("software_deployments.id"),
        "created_at": _to("software_deployments.created_at"),
        "updated_at": _to("software_deployments.updated_at"),
        "server_id": _to("software_deployments.server_id"),
        "config_id": _to("software_deployments.config_id"),
        "input_values": _to("software_deployments.content"),
        "output_values": _to("software_deployments.content"),
        "action": _to("software_deployments.content"),
        "status": _to("software_deployments.content"),
        "status_reason": _to("software_deployments.content"),
        "tenant": _to("software_deployments.project_id"),
        "stack_user_project_id": _not("the stack of the deployment's resource has it"),
    },
    "sync_point": {
        name: _not(_CONVERGENCE.reason, is_required=name != "extra_data")
        for name in (
            "entity_id", "traversal_id", "is_update", "atomic_key", "stack_id", "input_data",
            "created_at", "updated_at", "extra_data",
        )
    },
    "service": dict.fromkeys(
        (
            "id", "engine_id", "host", "hostname", "binary", "topic", "report_interval",
            "created_at", "updated_at", "deleted_at",
        ),
        _SERVICE,
    ),
    "alembic_version": {"version_num": _not("the release of Heat's schema", is_required=False)},
    "migrate_version": {
        name: _not("the release of Heat's schema", is_required=False)
        for name in ("repository_id", "repository_path", "version")
    },
    "watch_rule": {
        name: _not("alarms of the CloudWatch API, which Heat dropped", is_required=False)
        for name in (
            "id", "created_at", "updated_at", "name", "rule", "state", "last_evaluated", "stack_id",
        )
    },
    "watch_data": {
        name: _not("alarms of the CloudWatch API, which Heat dropped", is_required=False)
        for name in ("id", "created_at", "updated_at", "data", "watch_rule_id")
    },
}  # fmt: skip

_OPTIONAL_TABLES = frozenset(
    {"resource_snapshot", "alembic_version", "migrate_version", "watch_rule", "watch_data"}
)
# Tables that a database adds for itself.
_FOREIGN = frozenset({"sqlite_sequence", "sqlite_stat1", "alembic_version_heat"})


class HeatSchema(Struct, frozen=True):
    """The tables of one database, with their columns."""

    tables: Mapping[str, sa.TableClause]

    def has(self, table: str) -> bool:
        """Return whether the database has a table."""
        return table in self.tables


def schema_of(connection: sa.Connection) -> HeatSchema:
    """Return the schema of a database. Raise UnknownSchemaError for one that is not Heat's."""
    inspector = sa.inspect(connection)
    found = {
        table: [str(column["name"]) for column in inspector.get_columns(table)]
        for table in inspector.get_table_names()
        if table not in _FOREIGN
    }
    require_known(found)
    tables = {name: sa.table(name, *map(sa.column, names)) for name, names in found.items()}
    return HeatSchema(tables)


def require_known(found: Mapping[str, list[str]]) -> None:
    """Raise UnknownSchemaError unless the tables and their columns are those of Heat 13 to 27."""
    for table, names in found.items():
        if table not in TABLES:
            raise UnknownSchemaError(
                f"the database has a table {table}, which no release of Heat from 13 to 27 has;"
                " name the database of Heat with --from"
            )
        for name in names:
            if name not in TABLES[table]:
                raise UnknownSchemaError(
                    f"the table {table} has a column {name}, which no release of Heat from 13 to 27"
                    " has; its values would be lost"
                )
    for table, columns in TABLES.items():
        if table not in found:
            if table in _OPTIONAL_TABLES:
                continue
            raise UnknownSchemaError(
                f"the database has no table {table}; Heat 13 to 27 have one. An older Heat has to"
                " be upgraded first"
            )
        for name, column in columns.items():
            if column.is_required and name not in found[table]:
                raise UnknownSchemaError(
                    f"the table {table} has no column {name}; Heat 13 to 27 have one. An older Heat"
                    " has to be upgraded first"
                )
