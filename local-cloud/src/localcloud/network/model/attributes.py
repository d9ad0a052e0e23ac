"""Descriptions of the attributes of objects, and the check of bodies against them."""

import copy
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from msgspec import Struct

from localcloud.core.store import Document
from localcloud.network.errors import bad_request, denied, invalid, malformed
from localcloud.network.model.checks import Check, anything
from localcloud.web.http import RequestContext


class Default(Enum):
    """The value of an attribute that a create request lacks."""

    REQUIRED = "required"
    UNSET = "unset"  # it stays out of the values, and the operation decides


class Attribute(Struct, frozen=True):
    """One attribute: its readers and writers, and its values."""

    name: str
    check: Check = anything
    post: bool = True
    put: bool = True
    default: Any = Default.UNSET
    admin: bool = False  # only administrators may write it
    hidden: bool = False  # only administrators see it


def read_only(name: str, *, hidden: bool = False) -> Attribute:
    """Return an attribute that only the service writes."""
    return Attribute(name, post=False, put=False, hidden=hidden)


class Resource(Struct, frozen=True):
    """One kind of object of the API."""

    kind: str  # the name around one object: `security_group`
    collection: str  # the name around a list: `security_groups`; with hyphens it is the path
    attributes: Mapping[str, Attribute]

    @property
    def path(self) -> str:
        """The path of the list below ``/v2.0``."""
        return "/" + self.collection.replace("_", "-")


def resource(kind: str, collection: str, attributes: Iterable[Attribute]) -> Resource:
    """Return the kind of object with the attributes that all kinds have in addition."""
    common = (
        read_only("id"),
        read_only("tenant_id"),
        Attribute("project_id", put=False),
        read_only("created_at"),
        read_only("updated_at"),
        read_only("revision_number"),
    )
    return Resource(kind, collection, {a.name: a for a in (*common, *attributes)})


def _written(resource: Resource, body: Any) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise malformed(f"'{resource.kind}' must be an object.")
    values = dict(body)
    tenant = values.pop("tenant_id", None)
    if tenant is not None and values.setdefault("project_id", tenant) != tenant:
        raise malformed("'project_id' and 'tenant_id' differ.")
    unknown = sorted(set(values) - set(resource.attributes))
    if unknown:
        raise malformed(f"Unrecognized attribute(s) '{', '.join(unknown)}'")
    return values


def _checked(attribute: Attribute, value: Any) -> Any:
    try:
        return attribute.check(value)
    except ValueError as error:
        if attribute.name == "cidr":
            raise invalid(f"{value} is not in a CIDR format.") from None
        if attribute.name == "remote_ip_prefix":
            message = f"Invalid CIDR {value} given as IP prefix."
            raise bad_request(message, "InvalidCIDR") from None
        raise malformed(f"Invalid input for {attribute.name}. Reason: {error}.") from None


def _owner(context: RequestContext, asked: Any) -> str:
    """Return the project of a new object."""
    if asked in (None, ""):
        if context.project_id is None:
            raise malformed("A token without a project needs a 'project_id' in the body.")
        return context.project_id
    if asked != context.project_id and not context.is_admin:
        raise malformed("Only administrators can create for another project.")
    if not isinstance(asked, str) or len(asked) > 64:
        raise invalid(f"Invalid value for project_id: '{asked}'.")
    return asked


def defaults(resource: Resource) -> Document:
    """Return the values of attributes that a create request may leave out."""
    return {
        name: copy.copy(attribute.default)
        for name, attribute in resource.attributes.items()
        if attribute.post and not isinstance(attribute.default, Default)
    }


def for_create(resource: Resource, context: RequestContext, body: Any) -> Document:
    """Return the values of a new object, defaults included; raises ApiError for a bad body."""
    given = _written(resource, body)
    values: Document = {"project_id": _owner(context, given.pop("project_id", None))}
    for name, value in given.items():
        attribute = resource.attributes[name]
        if not attribute.post:
            raise malformed(f"Attribute '{name}' cannot be given on creation.")
        if attribute.admin and not context.is_admin and value != attribute.default:
            raise denied(f"create_{resource.kind}:{name}")
        values[name] = _checked(attribute, value)
    for name, attribute in resource.attributes.items():
        if attribute.default is Default.REQUIRED and name not in values:
            raise malformed(f"Failed to parse request. Required attribute '{name}' not specified")
    return {**defaults(resource), **values}


def for_update(resource: Resource, context: RequestContext, body: Any) -> Document:
    """Return the changes that a body asks for; raises ApiError for a bad body."""
    changes = {}
    for name, value in _written(resource, body).items():
        attribute = resource.attributes[name]
        if not attribute.put:
            raise malformed(f"Cannot update read-only attribute {name}")
        if attribute.admin and not context.is_admin:
            raise denied(f"update_{resource.kind}:{name}")
        changes[name] = _checked(attribute, value)
    return changes
