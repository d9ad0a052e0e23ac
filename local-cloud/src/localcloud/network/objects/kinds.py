"""All kinds of objects of the network API with their operations."""

from collections.abc import Mapping

from localcloud.network.model import resources
from localcloud.network.objects import (
    address_groups,
    address_scopes,
    floating_ips,
    networks,
    ports,
    rbac_policies,
    routers,
    security_group_rules,
    security_groups,
    subnetpools,
    subnets,
    trunks,
)
from localcloud.network.objects.operations import Operations

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
    Operations(resources.ADDRESS_SCOPE, delete=address_scopes.delete),
    Operations(
        resources.ADDRESS_GROUP, address_groups.create, address_groups.update, address_groups.delete
    ),
    Operations(
        resources.PORT,
        ports.create,
        ports.update,
        trunks.delete_port,
        trunks.port_view,
        ports.may_delete,
    ),
    Operations(resources.TRUNK, trunks.create, delete=trunks.delete, view=trunks.view),
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
        delete=security_group_rules.delete,
        view=security_groups.rule_view,
    ),
    Operations(
        resources.RBAC_POLICY, rbac_policies.create, rbac_policies.update, rbac_policies.delete
    ),
)

# By the name around a list of objects.
OPERATIONS: Mapping[str, Operations] = {one.resource.collection: one for one in _ALL}
