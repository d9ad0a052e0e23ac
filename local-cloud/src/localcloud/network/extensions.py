"""The extensions of the API that are really served, as clients discover them."""

from localcloud.network.errors import not_found

_NAMES = {
    "address-group": "Address group",
    "address-scope": "Address scope",
    "agent": "agent",
    "allowed-address-pairs": "Allowed Address Pairs",
    "availability_zone": "Availability Zone",
    "binding": "Port Binding",
    "default-subnetpools": "Default Subnetpools",
    "dns-domain-ports": "dns_domain for ports",
    "dns-integration": "DNS Integration",
    "ext-gw-mode": "Neutron L3 Configurable external gateway mode",
    "external-net": "Neutron external network",
    "extra_dhcp_opt": "Neutron Extra DHCP options",
    "extraroute": "Neutron Extra Route",
    "extraroute-atomic": "Atomically add/remove extra routes",
    "filter-validation": "Filter parameters validation",
    "fip-port-details": "Floating IP Port Details Extension",
    "ip_allocation": "IP Allocation",
    "ip-substring-filtering": "IP address substring filtering",
    "net-mtu": "Network MTU",
    "net-mtu-writable": "Network MTU (writable)",
    "network-ip-availability": "Network IP Availability",
    "network_availability_zone": "Network Availability Zone",
    "pagination": "Pagination support",
    "port-security": "Port Security",
    "project-id": "project_id field enabled",
    "provider": "Provider Network",
    "quota_details": "Quota details management support",
    "quotas": "Quota management support",
    "rbac-address-group": "Add address_group type to RBAC",
    "rbac-address-scope": "Add address_scope type to RBAC",
    "rbac-policies": "RBAC Policies",
    "rbac-security-groups": "Add security_group type to network RBAC",
    "rbac-subnetpool": "Add subnetpool type to RBAC",
    "revision-if-match": "If-Match constraints based on revision_number",
    "router": "Neutron L3 Router",
    "router_availability_zone": "Router Availability Zone",
    "security-group": "security-group",
    "security-groups-normalized-cidr": "Normalized CIDR field for security group rules",
    "security-groups-remote-address-group": "Remote address group id field for rules",
    "security-groups-shared-filtering": "Security group filtering on the shared field",
    "service-type": "Neutron Service Type Management",
    "sorting": "Sorting support",
    "standard-attr-description": "standard-attr-description",
    "standard-attr-revisions": "Resource revision numbers",
    "standard-attr-tag": "Tag support for resources with standard attribute",
    "standard-attr-timestamp": "Resource timestamps",
    "stateful-security-group": "Stateful security group",
    "subnet-dns-publish-fixed-ip": "Subnet DNS publish fixed IP",
    "subnet-external-network": "Subnet belongs to an external network",
    "subnet-service-types": "Subnet service types",
    "subnet_allocation": "Subnet Allocation",
    "tag-creation": "Tag creation",
    "tag-ports-during-bulk-creation": "Tag Ports During Bulk Creation",
    "uplink-status-propagation": "Port Uplink Status Propagation",
    "uplink-status-propagation-updatable": "Port Uplink Status Propagation Updatable",
}


def _document(alias: str) -> dict[str, object]:
    return {
        "alias": alias,
        "name": _NAMES[alias],
        "description": f"{_NAMES[alias]}.",
        "updated": "2026-01-01T00:00:00-00:00",
        "links": [],
    }


def every() -> list[dict[str, object]]:
    """Return all extensions as the API shows them."""
    return [_document(alias) for alias in _NAMES]


def one(alias: str) -> dict[str, object]:
    """Return one extension; raises the API's 404."""
    if alias not in _NAMES:
        raise not_found("extension", alias)
    return _document(alias)
