"""Reads for guards, inside the transaction of a change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from stoker.engine.model.limits import Amount
from stoker.engine.model.records import Queued, Stack, TreeState
from stoker.engine.model.stack_records.change_sets import Protection
from stoker.engine.model.stack_records.client_tokens import RequestWithToken
from stoker.engine.model.stack_records.exports import Export
from stoker.engine.model.stack_records.watches import Watch
from stoker.schema.software import Deployment


class SoftwareUsage(Struct, frozen=True):
    """The software configs and deployments of a project."""

    configs: int
    deployments: int
    size_bytes: int


class TransactionReader(Protocol):
    """Reads for guards.

    A result holds until the transaction ends, because its rows are locked. Some methods require a
    call of another one first, which takes the lock.
    """

    def stack(self, stack_id: str) -> Stack | None:
        """Return a stack, locked."""

    def queue(self, stack_id: str) -> Sequence[Queued]:
        """Return the operations that are not final, oldest first. Call :meth:`stack` first."""

    def tree(self, stack_id: str) -> TreeState:
        """Return the state of a stack and of those nested in it, locked."""

    def count_stacks(self, project_id: str) -> int:
        """Return the number of live stacks of a project, without nested ones."""

    def has_resource(self, resource_id: str) -> bool:
        """Return whether there is a resource; its row is locked."""

    def signals_of(self, resource_id: str) -> Amount:
        """Return the signals of a resource. Call :meth:`has_resource` first."""

    def signals_size_of_stack(self, stack_id: str) -> int:
        """Return the bytes of the signals of all resources of a stack."""

    def count_snapshots(self, stack_id: str) -> int:
        """Return the number of snapshots of a stack. Call :meth:`stack` first."""

    def has_snapshot(self, snapshot_id: str) -> bool:
        """Return whether there is a snapshot. Call :meth:`stack` first."""

    def may_act_by(self, credentials: Mapping[str, Any]) -> bool:
        """Return whether a new stack may use credentials: they were not revoked."""

    def request_with_token(self, project_id: str, text: str) -> RequestWithToken | None:
        """Return the request of a project with a client token; lock the project."""

    def exports(self, project_id: str) -> Mapping[str, Export]:
        """Return the exports of a project by name; lock the project."""

    def importers(self, project_id: str, names: Iterable[str]) -> Mapping[str, list[str]]:
        """Return the names of the live stacks that use exports, by the name of the export."""

    def protection(self, stack_id: str) -> Protection:
        """Return the protection of a stack. Call :meth:`stack` first."""

    def change_sets(self, stack_id: str) -> Mapping[str, str | None]:
        """Return the operations that execute the change sets of a stack, by name."""

    def watch(self, resource_id: str) -> Watch | None:
        """Return a watch, locked."""

    def deployment(self, deployment_id: str) -> Deployment | None:
        """Return a deployment, locked."""

    def has_config(self, config_id: str) -> bool:
        """Return whether there is a config; its row is locked."""

    def is_deployed(self, config_id: str) -> bool:
        """Return whether a deployment refers to a config. Call :meth:`has_config` first."""

    def software_of(self, project_id: str) -> SoftwareUsage:
        """Return the software of a project; lock the project."""
