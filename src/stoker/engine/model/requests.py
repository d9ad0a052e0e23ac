"""Requests of the API to the engine: the caller and the content. Values, checked for shape only."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import Struct, field, structs

from stoker.engine.model.stack_records.client_tokens import ClientToken


@dataclass(frozen=True, slots=True)
class Caller:
    """The identity on whose behalf a request is made."""

    project_id: str
    user_id: str
    user_name: str = ""
    roles: frozenset[str] = frozenset()
    is_admin: bool = False
    token: str | None = dataclasses.field(default=None, repr=False)  # token of the request
    # Stored in place of a trust, if so configured.
    password: str | None = dataclasses.field(default=None, repr=False)
    is_stack_user: bool = False  # user of the stack domain, for one resource only
    project_name: str = ""
    user_domain_id: str | None = None
    project_domain_id: str | None = None
    request_id: str | None = None
    trust_id: str | None = None  # trust of the token
    trustee_id: str | None = None  # user who acts by that trust
    client: ClientToken | None = None  # idempotency token


class StackRequest(Struct, frozen=True):
    """The content of a create, update, preview or validate request.

    ``template`` is text, or an object that a client has parsed already. It must not be changed
    afterwards, as the next update compares it with its own. With ``existing``, an update without a
    template keeps that of the stack.
    """

    name: str | None = None
    template: str | Mapping[str, Any] | None = None
    template_file: str | None = None  # for messages only
    parameters: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] | str | None = None
    environment_files: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    timeout_mins: int | None = None
    disable_rollback: bool | None = None
    tags: tuple[str, ...] | None = None
    existing: bool = False  # reuse the stack's parameters, environment and template
    clear_parameters: tuple[str, ...] = ()
    plan_fingerprint: str | None = None  # execute exactly the plan with this fingerprint
    keeps: bool = False  # create with deletion protection
    stack_policy: str | None = None  # new stack policy as JSON text; None keeps the present one
    policy_meanwhile: str | None = None  # stack policy during this update, as JSON text
    deletes_on_failure: bool = False  # delete the stack if its create fails
    converge: bool = False  # read live objects first, and repair external changes
    version_optional: bool = False  # accept a template without a version as CloudFormation
    must_change: bool = False  # reject an update without any change
    moves: Mapping[str, str] = field(default_factory=dict)  # new names of resources, by old name
    import_objects: Mapping[str, str] = field(default_factory=dict)  # ids of objects, by resource
    is_import: bool = False  # a change set of type IMPORT
    change_imported: bool = False  # imported objects may be changed to their definitions
    keep_objects: tuple[str, ...] = ()  # paths of removed resources whose objects stay
    express: bool = False  # resources start before those that they depend on are settled

    def as_data(self) -> dict[str, Any]:
        """Return the stored form, without the fields that have their defaults."""
        blank, values = StackRequest(), structs.asdict(self)
        return {name: value for name, value in values.items() if value != getattr(blank, name)}


class Page(Struct, frozen=True):
    """The requested part of a list, and its order."""

    limit: int | None = None
    marker: str | None = None
    sort_keys: tuple[str, ...] = ()
    descending: bool | None = None


class StackQuery(Struct, frozen=True):
    """Selection of stacks to list."""

    page: Page = Page()
    # By field: id, status (`COMPLETE`), name, action, username, owner_id, ...; values are OR.
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    tags_any: tuple[str, ...] = ()
    not_tags: tuple[str, ...] = ()
    not_tags_any: tuple[str, ...] = ()
    show_deleted: bool = False
    show_nested: bool = False
    show_hidden: bool = False
    all_projects: bool = False
    with_object: str | None = None  # only stacks with an object of this id


class ResourceQuery(Struct, frozen=True):
    """Selection of a stack's resources to list."""

    nested_depth: int = 0
    # By field: type, status, name, action, id, physical_resource_id; values are OR.
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    with_attributes: bool = False  # include recorded attributes
    with_unstarted: bool = False  # include resources that no operation has started


class EventQuery(Struct, frozen=True):
    """Selection of a stack's events to list."""

    page: Page = Page()
    nested_depth: int = 0
    resource_name: str | None = None
    # By field: resource_status, resource_action, resource_name, resource_type.
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
