"""OS::Neutron::SubnetPool: ranges from which subnets are allocated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network
from itertools import pairwise
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import SUBNET_POOLS
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.resources.neutron.sharing import without_granted_sharing
from stoker.resources.neutron.tags import tags_of
from stoker.schema.constraints import Custom, Length
from stoker.schema.resource_type import Call
from stoker.schema.support import since

_ORDER = ("min_prefixlen", "default_prefixlen", "max_prefixlen")


class SubnetPool(RestResource):
    """A subnet pool."""

    type_name = "OS::Neutron::SubnetPool"
    description = "Ranges of addresses from which subnets are allocated."
    service = "network"
    support = since("6.0.0")
    collection = SUBNET_POOLS
    field_names = {"address_scope": "address_scope_id"}
    follow_up_requests = (tags_of(SUBNET_POOLS),)

    properties = {
        "address_scope": declare.checked(
            "neutron.address_scope",
            "Address scope of the pool, by name or id.",
            update_allowed=True,
        ),
        "default_prefixlen": declare.at_least(
            0, "Default prefix length of subnets.", update_allowed=True
        ),
        "default_quota": declare.at_least(
            0, "Maximum number of addresses for a project.", update_allowed=True
        ),
        "is_default": declare.boolean(
            "Whether this is the default pool.", default=False, update_allowed=True
        ),
        "max_prefixlen": declare.at_least(
            0, "Maximum prefix length of subnets.", update_allowed=True
        ),
        "min_prefixlen": declare.at_least(
            0, "Minimum prefix length of subnets.", update_allowed=True
        ),
        "name": declare.NAME,
        "prefixes": declare.sequence(
            "Ranges of the pool.",
            required=True,
            update_allowed=True,
            constraints=(Length(min=1),),
            items=declare.string(constraints=(Custom("net_cidr"),)),
        ),
        "shared": declare.boolean("Whether other projects can use the object.", default=False),
        "tags": declare.tags("9.0.0"),
        "tenant_id": declare.TENANT_ID,
    }

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties of the pool.

        Neutron joins adjacent prefixes. Prefixes with the same addresses count as equal.
        """
        observed = without_granted_sharing(call, super().properties_of(call, found))
        prefixes = call.properties["prefixes"]
        if _joined(prefixes) == _joined(observed["prefixes"]):
            observed["prefixes"] = prefixes
        return observed

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that the prefix lengths are in ascending order."""
        lengths = [(name, properties.get(name)) for name in _ORDER]
        known = [(name, value) for name, value in lengths if isinstance(value, int)]
        return [
            Diagnostic("invalid-subnet-pool", f"{low} is greater than {high}", (low,))
            for (low, below), (high, above) in pairwise(known)
            if below > above
        ]


def _joined(prefixes: Sequence[str]) -> set[str]:
    """Return the fewest prefixes with the same addresses."""
    ranges = [ip_network(prefix, strict=False) for prefix in prefixes]
    older = collapse_addresses(each for each in ranges if isinstance(each, IPv4Network))
    newer = collapse_addresses(each for each in ranges if isinstance(each, IPv6Network))
    return {*map(str, older), *map(str, newer)}
