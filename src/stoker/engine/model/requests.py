"""What interfaces hand to the engine: who asks, and for what. Values, checked for shape only."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import Struct, field

from stoker.engine.model.client_tokens import ClientToken


@dataclass(frozen=True, slots=True)
class Caller:
    """The identity on whose behalf a request is made."""

    project_id: str
    user_id: str
    user_name: str = ""
    roles: frozenset[str] = frozenset()
    is_admin: bool = False
    token: str | None = dataclasses.field(default=None, repr=False)
    """The token of the request, for calls that are made while it is valid."""
    password: str | None = dataclasses.field(default=None, repr=False)
    """The password of the user, where it is what goes on after the request."""
    is_stack_user: bool = False
    """A user of the stack domain: may read metadata of and signal its own resource only."""
    project_name: str = ""
    user_domain_id: str | None = None
    project_domain_id: str | None = None
    request_id: str | None = None
    trust_id: str | None = None
    """The trust that the token acts by."""
    trustee_id: str | None = None
    """The user who acts by it."""
    client: ClientToken | None = None
    """By which the client tells that it asks for the same again."""


class StackRequest(Struct, frozen=True):
    """The content of a create, update, preview or validate request.

    ``template`` is text, or an object that a client has parsed already. ``None`` on an update
    keeps what the stack has (only with ``existing``).
    """

    name: str | None = None
    template: str | Mapping[str, Any] | None = None
    template_file: str | None = None
    """Name for messages."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] | str | None = None
    environment_files: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    timeout_mins: int | None = None
    disable_rollback: bool | None = None
    tags: tuple[str, ...] | None = None
    existing: bool = False
    """Keep parameters, environment and template of the stack where this request has none."""
    clear_parameters: tuple[str, ...] = ()
    plan_fingerprint: str | None = None
    """Do what the plan with this fingerprint says, or nothing."""
    keeps: bool = False
    """Of a create: the stack is not deleted until somebody says so."""
    stack_policy: str | None = None
    """What updates may do from now on, as JSON text; None leaves that as it is."""
    policy_meanwhile: str | None = None
    """Of an update: what it may do itself, in place of the stack's policy."""
    deletes_on_failure: bool = False
    """Of a create: the stack is deleted if it fails, and not rolled back."""
    converge: bool = False
    """Of an update: look at what is live first, and repair what others have changed."""
    version_optional: bool = False
    """A template without a version is one of CloudFormation's, as for clients of AWS."""
    must_change: bool = False
    """Of an update: reject it if the stack has been made from the same already."""


class Page(Struct, frozen=True):
    """Which part of a list, and in which order."""

    limit: int | None = None
    marker: str | None = None
    sort_keys: tuple[str, ...] = ()
    descending: bool | None = None


class StackQuery(Struct, frozen=True):
    """Which stacks to list."""

    page: Page = Page()
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By field: id, status (``COMPLETE``), name, action, username, owner_id, ...; values are OR."""
    tags: tuple[str, ...] = ()
    tags_any: tuple[str, ...] = ()
    not_tags: tuple[str, ...] = ()
    not_tags_any: tuple[str, ...] = ()
    show_deleted: bool = False
    show_nested: bool = False
    show_hidden: bool = False
    all_projects: bool = False
    with_object: str | None = None
    """Those alone that have an object of this id."""


class ResourceQuery(Struct, frozen=True):
    """Which resources of a stack to list."""

    nested_depth: int = 0
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By field: type, status, name, action, id, physical_resource_id; values are OR."""
    with_attributes: bool = False
    """Show the recorded attributes too."""
    with_unstarted: bool = False
    """Show the resources of the template too that no operation has started."""


class EventQuery(Struct, frozen=True):
    """Which events of a stack to list."""

    page: Page = Page()
    nested_depth: int = 0
    resource_name: str | None = None
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By field: resource_status, resource_action, resource_name, resource_type."""
