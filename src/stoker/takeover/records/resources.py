"""Rows of resources, from rows of Heat and the template that they were last brought to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from stoker.engine.execution.calls.build import physical_name
from stoker.engine.model.records import Resource, Stack, Status, StoredSignal
from stoker.kernel.values import replace
from stoker.schema.resource_type import ResourceType
from stoker.takeover.heat.database import Row
from stoker.takeover.heat.decryption import Decryption
from stoker.takeover.heat.documents import document_of, map_of, time_of
from stoker.takeover.heat.trees import HeatBatch
from stoker.takeover.records.attribute_paths import whole_attributes
from stoker.takeover.records.evaluation import definition_of, implementation_of
from stoker.takeover.records.identifiers import derived_id, token_of
from stoker.takeover.records.properties import checked_properties, values_of
from stoker.takeover.records.states import NOT_REACHED, ended_state, is_created
from stoker.takeover.records.type_data import HeatResource, TypeData, translate
from stoker.template.definition import Definition
from stoker.template.evaluate.evaluation import Evaluation

_NAME_LIMIT = 255
_CHAIN = "OS::Heat::ResourceChain"


class CarriedResource(Struct, frozen=True):
    """A row with its signals, and remarks about facts that are lost."""

    row: Resource
    signals: Sequence[StoredSignal]
    remarks: Sequence[str]
    type: ResourceType | None


class ResourceRows:
    """Builds the rows of one stack."""

    def __init__(
        self,
        batch: HeatBatch,
        stack: Stack,
        decryption: Decryption,
        evaluations: Mapping[int, Evaluation | None],
        user_facts: Mapping[str, Any],
        template_id: int,
    ) -> None:
        """``evaluations`` are by the id of the template, ``user_facts`` those of stack users.

        ``template_id`` is that of the stack's current template.
        """
        self._batch = batch
        self._template_id = template_id
        self._stack = stack
        self._decryption = decryption
        self._evaluations = evaluations
        self._user_facts = user_facts
        self._rows = batch.resources.get(stack.id, ())
        self._uuids = {row["id"]: row["uuid"] for row in self._rows}
        self._names = {row["id"]: row["name"] for row in self._rows}

    def all(self, members: Mapping[str, Sequence[str]]) -> list[CarriedResource]:
        """Return all rows; ``members`` are the names in nested stacks, by their ids."""
        return [self._carried(row, members.get(row["nova_instance"])) for row in self._rows]

    def _carried(self, row: Row, members: Sequence[str] | None) -> CarriedResource:
        evaluation = self._evaluation_of(row)
        definition = definition_of(evaluation, row["name"])
        type_ = None if definition is None else definition.type
        remarks: list[str] = []
        if type_ is None:
            remarks.append("its type is not known here, so that it can only be shown and deleted")
        if self._is_left_behind(row):
            remarks.append(NOT_REACHED)
        place = f"stack {self._stack.id}, resource {row['name']}"
        properties = self._properties(row, place)
        # A resource that was never created has no properties yet.
        applied, faults = checked_properties(properties, type_ if is_created(row) else None)
        remarks += [f"property {each.path}: {each.message}" for each in faults]
        heat = HeatResource(
            name=row["name"],
            physical_id=row["nova_instance"],
            physical_name=physical_name(
                self._stack.name, row["name"], token_of(row["uuid"]), _NAME_LIMIT
            ),
            properties=applied,
            data=self._data(row, place),
            metadata=map_of(row["rsrc_metadata"], f"{place}, column rsrc_metadata"),
            user_project_id=self._stack.user_project_id,
            user_facts=self._user_facts,
            members=tuple(members or ()),
            reported=self._reported(row),
        )
        implementation = implementation_of(row["name"], evaluation, definition)
        kept = translate(implementation, heat)
        is_nested = members is not None
        record = self._record(row, definition, evaluation, implementation, applied, kept)
        shown = whole_attributes(self._values(row["attr_data_id"], f"{place}, attributes"), type_)
        record = replace(record, attributes={**shown, **kept.attributes})
        if is_nested:
            record = _with_nested(record, row["nova_instance"])
        return CarriedResource(record, self._signals(row, kept), remarks, type_)

    def _evaluation_of(self, row: Row) -> Evaluation | None:
        """Return the evaluation of the template that a resource was last brought to.

        Heat's engine before convergence does not record it: then it is the first that has the name.
        """
        if row["current_template_id"] is not None:
            return self._evaluations.get(row["current_template_id"])
        current = self._evaluations.get(self._template_id)
        for evaluation in (current, *self._evaluations.values()):
            if evaluation is not None and row["name"] in evaluation.analyses:
                return evaluation
        return current

    def _is_left_behind(self, row: Row) -> bool:
        """Return whether the last operation failed, and ended before it reached the resource."""
        last = row["current_template_id"] == self._template_id
        return self._stack.status is Status.FAILED and not (last and is_created(row))

    def _record(
        self,
        row: Row,
        definition: Definition | None,
        evaluation: Evaluation | None,
        implementation: str,
        applied: Mapping[str, Any],
        kept: TypeData,
    ) -> Resource:
        created = time_of(row["created_at"]) or self._stack.created_at
        action, status, reason = ended_state(row, f"resource {row['uuid']}")
        return Resource(
            id=row["uuid"],
            stack_id=self._stack.id,
            name=row["name"],
            type_name=_type_name(row, evaluation, definition, self._batch),
            token=token_of(row["uuid"]),
            created_at=created,
            updated_at=time_of(row["updated_at"]) or created,
            implementation=implementation,
            action=action,
            status=status,
            reason=reason,
            physical_id=kept.physical_id or row["nova_instance"] or None,
            properties=applied,
            metadata=kept.metadata,
            data=kept.data,
            requires=self._requires(row, definition),
            dependencies=self._dependencies(row, definition),
            deletion_policy="Delete" if definition is None else definition.deletion_policy.value,
            update_policy={} if definition is None else definition.update_policy,
            replaced_by=self._uuids.get(row["replaced_by"]),
            external=definition is not None and definition.external_id is not None,
            unhealthy=row["action"] == "CHECK" and row["status"] == "FAILED",
            description="" if definition is None else definition.description,
        )

    def _requires(self, row: Row, definition: Definition | None) -> tuple[str, ...]:
        """Return the ids of the resources that must exist as long as this one.

        Heat's engine before convergence does not record them: they follow from the template.
        """
        needed = set(map(self._uuids.get, self._required(row)))
        if row["current_template_id"] is None and definition is not None:
            names = definition.dependencies
            needed |= {each["uuid"] for each in self._rows if each["name"] in names}
        return tuple(sorted(each for each in needed if each is not None))

    def _required(self, row: Row) -> list[int]:
        return list(document_of(row["requires"], "resource, column requires") or ())

    def _dependencies(self, row: Row, definition: Definition | None) -> tuple[str, ...]:
        current = self._evaluations.get(self._template_id)
        if current is not None and row["name"] not in current.dependencies:
            return ()  # it has left the template, as all have when the delete of a stack starts
        if definition is not None:
            return tuple(sorted(definition.dependencies))
        return tuple(sorted({self._names[i] for i in self._required(row) if i in self._names}))

    def _properties(self, row: Row, place: str) -> Mapping[str, Any]:
        if row["rsrc_prop_data_id"] is not None:
            return self._values(row["rsrc_prop_data_id"], place)
        old = map_of(row["properties_data"], f"{place}, column properties_data")
        if not row["properties_data_encrypted"]:
            return old
        where = f"{place}, column properties_data"
        return {name: self._decryption.pair(value, where) for name, value in old.items()}

    def _values(self, data_id: int | None, place: str) -> Mapping[str, Any]:
        if data_id is None or data_id not in self._batch.properties:
            return {}
        return values_of(self._batch.properties[data_id], self._decryption, place)

    def _reported(self, row: Row) -> Mapping[str, Any]:
        """Return the outputs that a server has reported for the deployment of a resource."""
        deployment = self._batch.deployments.get(row["nova_instance"])
        if deployment is None:
            return {}
        place = f"software_deployment {deployment['id']}, column output_values"
        return map_of(deployment["output_values"], place)

    def _data(self, row: Row, place: str) -> dict[str, Any]:
        found = {}
        for entry in self._batch.data.get(row["id"], ()):
            value = entry["value"]
            if entry["redact"] and entry["decrypt_method"]:
                where = f"{place}, resource_data {entry['key']}"
                value = self._decryption.text(entry["decrypt_method"], value, where)
            found[entry["key"]] = value
        return found

    def _signals(self, row: Row, kept: TypeData) -> list[StoredSignal]:
        received = time_of(row["updated_at"]) or time_of(row["created_at"]) or 0.0
        return [
            StoredSignal(
                id=derived_id("signal", row["uuid"], details["id"]),
                stack_id=self._stack.id,
                resource_id=row["uuid"],
                received_at=received,
                details=details,
            )
            for details in kept.signals
        ]


def _type_name(
    row: Row, evaluation: Evaluation | None, definition: Definition | None, batch: HeatBatch
) -> str:
    """Return the type in the template; of a resource that left it, the one of its last event."""
    if definition is not None:
        return definition.type_name
    if evaluation is not None and row["name"] in evaluation.type_names:
        return evaluation.type_names[row["name"]]
    for event in reversed(batch.events.get(row["stack_id"], ())):
        if event["resource_name"] == row["name"] and event["resource_type"]:
            return str(event["resource_type"])
    return "OS::Heat::None"


def _with_nested(record: Resource, nested_id: str) -> Resource:
    return replace(record, nested_id=nested_id)


def names_by_age(resources: Iterable[Row]) -> list[str]:
    """Return the names of resources, oldest first; those of one second by name, as in Heat."""
    ordered = sorted(resources, key=lambda row: (str(row["created_at"]), row["name"]))
    return [row["name"] for row in ordered]


def in_group(row: Resource, holder: Resource | None) -> Resource:
    """Return a row of a nested stack; ``holder`` is the row of that stack in its parent.

    Heat orders the members of a chain also if they are concurrent; Stoker does not, and an update
    would report the difference.
    """
    if holder is None or holder.implementation != _CHAIN or not holder.properties.get("concurrent"):
        return row
    return replace(row, dependencies=(), requires=())
