"""Records of one tree of stacks: a root stack with the stacks nested in it.

In: a tree of Heat with its rows. Out: all records of the tree, and remarks. Parents are built
before their children, because the resource in the parent describes the nested stack; attributes are
filled in the other direction, because the outputs of a nested stack are attributes in its parent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from stoker.engine.model.records import (
    Event,
    Input,
    Resource,
    Stack,
    StoredSignal,
)
from stoker.engine.model.storage.changes import AnyRecord
from stoker.schema.resource_type import ResourceType
from stoker.takeover.heat.database import Row
from stoker.takeover.heat.decryption import Decryption
from stoker.takeover.heat.trees import HeatBatch, HeatTree
from stoker.takeover.records.attributes import LocalAttributes
from stoker.takeover.records.evaluation import Evaluator, definition_of
from stoker.takeover.records.events import event_of
from stoker.takeover.records.inputs import input_of
from stoker.takeover.records.remarks import Remark
from stoker.takeover.records.resources import ResourceRows, in_group, names_by_age
from stoker.takeover.records.snapshots import snapshot_records
from stoker.takeover.records.stacks import described, nested_in, remarks_on, stack_of, user_facts
from stoker.template.evaluate.evaluation import Evaluation


class CarriedTree(Struct, frozen=True):
    """The records of a tree."""

    root_id: str
    records: Sequence[AnyRecord]  # all but events
    events: Sequence[Event]
    credentials: Mapping[str, Any]  # of the root stack, unless it is deleted
    remarks: Sequence[Remark]
    stack_ids: Sequence[str]
    resources: int


class _Built(Struct, frozen=True):
    """A stack of the tree while it is built."""

    stack: Stack
    inputs: Mapping[int, Input]  # by the id of Heat's template
    current: Input
    evaluation: Evaluation | None
    definitions: Mapping[int, Evaluation | None]


class TreeBuilder:
    """Builds the records of trees."""

    def __init__(
        self,
        decryption: Decryption,
        evaluator: Evaluator,
        cfn_url: str | None = None,
        user_domain: str | None = None,
    ) -> None:
        """``cfn_url`` is the root of Heat's CloudFormation API, ``user_domain`` the id of the
        domain of stack users.
        """
        self._decryption = decryption
        self._evaluator = evaluator
        self._addresses = cfn_url, user_domain

    def carried(self, batch: HeatBatch, tree: HeatTree) -> CarriedTree:
        """Return the records of a tree. Raise UnreadableValueError."""
        return _TreeWork(self._decryption, self._evaluator, self._addresses, batch, tree).carried()


class _TreeWork:
    def __init__(
        self,
        decryption: Decryption,
        evaluator: Evaluator,
        addresses: tuple[str | None, str | None],
        batch: HeatBatch,
        tree: HeatTree,
    ) -> None:
        self._decryption = decryption
        self._evaluator = evaluator
        self._cfn_url, self._user_domain = addresses
        self._batch = batch
        self._tree = tree
        # Names of the resources of each stack.
        self._members = {
            row["id"]: names_by_age(batch.resources.get(row["id"], ())) for row in tree.stacks
        }
        self._built: dict[str, _Built] = {}
        self._resources: dict[str, list[Resource]] = {}
        self._types: dict[str, ResourceType | None] = {}
        self._signals: dict[str, list[StoredSignal]] = defaultdict(list)
        self._records: list[AnyRecord] = []
        self._remarks: list[Remark] = []

    def carried(self) -> CarriedTree:
        """Return the records of the tree."""
        for row in self._tree.stacks:
            self._build(row)
        for row in self._tree.backups:
            owner = self._built[row["owner_id"]].stack
            self._remark(owner, f"objects in its backup stack {row['name']} stay behind")
        for row in reversed(self._tree.stacks):
            self._complete(self._built[row["id"]])
        events: list[Row] = []
        for row in self._tree.stacks:
            events += self._batch.events.get(row["id"], ())
        root = self._built[self._tree.root["id"]].stack
        return CarriedTree(
            root_id=root.id,
            records=self._records,
            events=self._events(events),
            credentials=root.credentials if root.deleted_at is None else {},
            remarks=self._remarks,
            stack_ids=list(self._built),
            resources=sum(map(len, self._resources.values())),
        )

    def _build(self, row: Row) -> None:
        """Build a stack with its inputs and the rows of its resources."""
        holder = self._holder_of(row)
        parent = self._built.get(row["owner_id"] or "")
        name = row["parent_resource_name"] if holder is None else holder.name
        definition = None if parent is None else definition_of(parent.evaluation, name)
        stack = stack_of(row, self._batch, self._decryption)
        for text in remarks_on(stack, row):
            self._remark(stack, text)
        if parent is not None:
            stack = nested_in(stack, parent.stack, row["parent_resource_name"], holder)
        templates = {row["raw_template_id"], row["prev_raw_template_id"]} - {None}
        used = {each["current_template_id"] for each in self._batch.resources.get(row["id"], ())}
        inputs = {
            template_id: input_of(stack, self._batch, template_id, self._decryption, definition)
            for template_id in sorted(templates | (used & self._batch.templates.keys()))
        }
        current = inputs[row["raw_template_id"]]
        evaluations = {id_: self._evaluator.evaluation(stack, each) for id_, each in inputs.items()}
        evaluation = evaluations[row["raw_template_id"]]
        if evaluation is None:
            self._remark(stack, "its template cannot be read here")
        else:
            stack = described(stack, evaluation)
        self._built[stack.id] = _Built(stack, inputs, current, evaluation, evaluations)
        facts = user_facts(row, self._batch, self._user_domain)
        resources = ResourceRows(
            self._batch, stack, self._decryption, evaluations, facts, row["raw_template_id"]
        )
        carried = resources.all(self._members)
        self._resources[stack.id] = [in_group(each.row, holder) for each in carried]
        for each in carried:
            self._types[each.row.id] = each.type
            self._signals[stack.id] += each.signals
            for text in each.remarks:
                self._remark(stack, text, each.row.name)
        self._records += [inputs[template_id] for template_id in sorted(templates)]
        self._records.append(stack)

    def _complete(self, built: _Built) -> None:
        """Fill the attributes of a stack whose nested stacks are complete."""
        stack, rows = built.stack, self._resources[built.stack.id]
        local = LocalAttributes(stack, self._evaluator.region, self._cfn_url)
        completed = []
        for row in local.complete(rows, self._types, self._signals[stack.id]):
            child = self._built.get(row.nested_id or "")
            if child is not None:
                inside = self._resources[child.stack.id]
                type_ = self._types[row.id]
                row = local.with_nested(row, type_, child.stack, child.evaluation, inside)
            completed.append(row)
        self._resources[stack.id] = completed
        self._records += completed
        self._records += self._signals[stack.id]
        self._records += snapshot_records(self._batch, stack, built.current, completed)

    def _holder_of(self, row: Row) -> Resource | None:
        """Return the row of the resource in the parent that has this nested stack."""
        rows = self._resources.get(row["owner_id"] or "", ())
        found = [each for each in rows if each.physical_id == row["id"]] or [
            each for each in rows if each.name == row["parent_resource_name"]
        ]
        return found[0] if found else None

    def _events(self, rows: Sequence[Row]) -> list[Event]:
        ids = {
            stack_id: {each.name: each.id for each in resources}
            for stack_id, resources in self._resources.items()
        }
        ordered = sorted(rows, key=lambda row: row["id"])
        return [
            event_of(row, self._batch, ids[row["stack_id"]], self._decryption) for row in ordered
        ]

    def _remark(self, stack: Stack, text: str, resource: str = "") -> None:
        self._remarks.append(Remark(stack.id, text, resource))
