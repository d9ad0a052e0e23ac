"""Which functions create, change, delete and complete the objects of each kind."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from localcloud.http import RequestContext
from localcloud.network import (
    address_groups,
    address_scopes,
    floating_ips,
    networks,
    ports,
    rbac_policies,
    resources,
    routers,
    security_group_rules,
    security_groups,
    subnetpools,
    subnets,
)
from localcloud.network.attributes import Resource
from localcloud.network.state import State
from localcloud.store import Document


@dataclass(frozen=True)
class Operations:
    """One kind of object and what can be done with it."""

    resource: Resource
    create: Callable[[State, RequestContext, Document], Document]
    update: Callable[[State, RequestContext, Document, Document], Document]
    delete: Callable[[State, RequestContext, Document], None]
    view: Callable[[State, RequestContext, Document], Document]
    """Returns the attributes that are not in the document."""


_ALL = (
    Operations(resources.NETWORK, networks.create, networks.update, networks.delete, networks.view),
    Operations(resources.SUBNET, subnets.create, subnets.update, subnets.delete, subnets.view),
    Operations(
        resources.SUBNETPOOL,
        subnetpools.create,
        subnetpools.update,
        subnetpools.delete,
        subnetpools.view,
    ),
    Operations(
        resources.ADDRESS_SCOPE,
        address_scopes.create,
        address_scopes.update,
        address_scopes.delete,
        address_scopes.view,
    ),
    Operations(
        resources.ADDRESS_GROUP,
        address_groups.create,
        address_groups.update,
        address_groups.delete,
        address_groups.view,
    ),
    Operations(resources.PORT, ports.create, ports.update, ports.delete, ports.view),
    Operations(resources.ROUTER, routers.create, routers.update, routers.delete, routers.view),
    Operations(
        resources.FLOATING_IP,
        floating_ips.create,
        floating_ips.update,
        floating_ips.delete,
        floating_ips.view,
    ),
    Operations(
        resources.SECURITY_GROUP,
        security_groups.create,
        security_groups.update,
        security_groups.delete,
        security_groups.view,
    ),
    Operations(
        resources.SECURITY_GROUP_RULE,
        security_group_rules.create,
        security_group_rules.update,
        security_group_rules.delete,
        security_group_rules.view,
    ),
    Operations(
        resources.RBAC_POLICY,
        rbac_policies.create,
        rbac_policies.update,
        rbac_policies.delete,
        rbac_policies.view,
    ),
)

OPERATIONS: Mapping[str, Operations] = {one.resource.collection: one for one in _ALL}
"""By the name around a list of objects."""
