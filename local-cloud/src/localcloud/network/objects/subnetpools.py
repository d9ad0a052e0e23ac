"""Subnet pools: prefixes from which subnets get their ranges."""

from localcloud.core.store import Document
from localcloud.network.errors import bad_request, conflict
from localcloud.network.model import ipam, quotas
from localcloud.network.model.ipam import IPNetwork
from localcloud.network.model.state import State
from localcloud.network.model.visibility import find, sees
from localcloud.web.http import RequestContext

KIND = "subnetpool"
_SHORTEST = {4: 8, 6: 64}


def _merged(prefixes: list[str]) -> list[str]:
    nets = sorted(map(ipam.network, prefixes), key=lambda net: int(net.network_address))
    merged: list[IPNetwork] = []
    for net in nets:
        if not merged or not ipam.contains(merged[-1], net):
            merged.append(net)
    return [str(net) for net in merged]


def _version(prefixes: list[str]) -> int:
    versions = {ipam.network(prefix).version for prefix in prefixes}
    if len(versions) != 1:
        raise bad_request(
            "A subnet pool needs prefixes of one IP version.", "PrefixVersionMismatch"
        )
    return versions.pop()


def _check_lengths(pool: Document) -> None:
    low, default, high = (pool["min_prefixlen"], pool["default_prefixlen"], pool["max_prefixlen"])
    if not low <= default <= high or high > (32 if pool["ip_version"] == 4 else 128):
        raise bad_request(
            f"The prefix lengths {low} (least), {default} (default), {high} (most) do not fit.",
            "IllegalSubnetPoolPrefixBounds",
        )


def _check_scope(state: State, context: RequestContext, pool: Document) -> None:
    if not pool["address_scope_id"]:
        return
    scope = find(state, context, "address_scope", pool["address_scope_id"])
    if scope["ip_version"] != pool["ip_version"]:
        raise bad_request(
            "The address scope is of another IP version.", "IllegalSubnetPoolIpVersionAssociation"
        )
    mine = [ipam.network(prefix) for prefix in pool["prefixes"]]
    for other in state.all(KIND).find(address_scope_id=scope["id"]):
        theirs = [ipam.network(prefix) for prefix in other["prefixes"]]
        if other["id"] != pool.get("id") and any(a.overlaps(b) for a in mine for b in theirs):
            raise conflict(
                "AddressScopePrefixConflict",
                f"The prefixes overlap with those of subnet pool {other['id']} in the scope.",
            )


def create(state: State, context: RequestContext, values: Document) -> Document:
    """Make a pool; raises ApiError for prefixes and lengths that do not fit."""
    quotas.require(state, KIND, values["project_id"])
    version = _version(values["prefixes"])
    low = values.get("min_prefixlen", _SHORTEST[version])
    pool = {
        **values,
        "ip_version": version,
        "prefixes": _merged(values["prefixes"]),
        "min_prefixlen": low,
        "default_prefixlen": values.get("default_prefixlen", low),
        "max_prefixlen": values.get("max_prefixlen", 32 if version == 4 else 128),
    }
    _check_lengths(pool)
    _check_scope(state, context, pool)
    _check_default(state, pool)
    return state.create(KIND, pool)


def _check_default(state: State, pool: Document) -> None:
    for other in state.all(KIND).values():
        same = other["is_default"] and other["ip_version"] == pool["ip_version"]
        if pool["is_default"] and same and other["id"] != pool.get("id"):
            raise bad_request(
                f"Subnet pool {other['id']} is the default of its IP version already.",
                "InvalidInput",
            )


def update(state: State, context: RequestContext, pool: Document, changes: Document) -> Document:
    """Change a pool; prefixes may only grow."""
    future = {**pool, **changes}
    if "prefixes" in changes:
        if _version(changes["prefixes"]) != pool["ip_version"]:
            raise bad_request("The IP version of a pool stays.", "PrefixVersionMismatch")
        future["prefixes"] = _merged(changes["prefixes"])
        networks = [ipam.network(prefix) for prefix in future["prefixes"]]
        for prefix in pool["prefixes"]:
            old = ipam.network(prefix)
            if not any(ipam.contains(new, old) for new in networks):
                raise bad_request(
                    f"The prefix {prefix} cannot be taken away.", "IllegalSubnetPoolPrefixUpdate"
                )
    _check_lengths(future)
    _check_scope(state, context, future)
    _check_default(state, future)
    return state.update(KIND, pool, future)


def delete(state: State, context: RequestContext, pool: Document) -> None:
    """Remove a pool; raises ApiError while subnets come from it."""
    for subnet in state.all("subnet").find(subnetpool_id=pool["id"]):
        raise conflict(
            "SubnetPoolDeleteError", f"Subnet {subnet['id']} comes from subnet pool {pool['id']}."
        )
    state.delete(KIND, pool)


def view(state: State, context: RequestContext, pool: Document) -> Document:
    """Return the added fields of the API, with numbers as text as clients expect."""
    lengths = ("min_prefixlen", "default_prefixlen", "max_prefixlen")
    return {name: str(pool[name]) for name in lengths}


def default(state: State, context: RequestContext, version: int) -> Document:
    """Return the default pool of an IP version; raises ApiError where there is none."""
    for pool in state.all(KIND).values():
        if (
            pool["is_default"]
            and pool["ip_version"] == version
            and sees(state, context, KIND, pool)
        ):
            return pool
    raise bad_request(f"There is no default subnet pool for IPv{version}.")


def _used(state: State, pool: Document) -> list[IPNetwork]:
    found = state.all("subnet").find(subnetpool_id=pool["id"])
    return [ipam.network(subnet["cidr"]) for subnet in found]


def claim(state: State, pool: Document, net: IPNetwork) -> str:
    """Return the CIDR that was asked for; raises ApiError where the pool cannot give it."""
    _check_length(pool, net.prefixlen)
    inside = any(ipam.contains(prefix, net) for prefix in map(ipam.network, pool["prefixes"]))
    if not inside or any(net.overlaps(used) for used in _used(state, pool)):
        raise conflict("SubnetAllocationError", f"{net} is not free in subnet pool {pool['id']}.")
    return str(net)


def _check_length(pool: Document, length: int) -> None:
    if length < pool["min_prefixlen"]:
        raise bad_request(
            f"The pool gives prefixes of at least /{pool['min_prefixlen']}.",
            "MinPrefixSubnetAllocationError",
        )
    if length > pool["max_prefixlen"]:
        raise bad_request(
            f"The pool gives prefixes of at most /{pool['max_prefixlen']}.",
            "MaxPrefixSubnetAllocationError",
        )


def allocate(state: State, pool: Document, length: int | None, project_id: str) -> str:
    """Return the first free CIDR of the length; raises ApiError where there is none."""
    length = pool["default_prefixlen"] if length is None else length
    _check_length(pool, length)
    _check_pool_quota(state, pool, length, project_id)
    found = ipam.free_prefix(map(ipam.network, pool["prefixes"]), _used(state, pool), length)
    if found is None:
        raise conflict(
            "SubnetAllocationError", f"Subnet pool {pool['id']} has no free prefix of /{length}."
        )
    return str(found)


def _check_pool_quota(state: State, pool: Document, length: int, project_id: str) -> None:
    quota = pool["default_quota"]
    if quota is None:
        return
    unit = 32 if pool["ip_version"] == 4 else 64
    lengths = [
        ipam.network(subnet["cidr"]).prefixlen
        for subnet in state.all("subnet").find(subnetpool_id=pool["id"], project_id=project_id)
    ]
    used = sum(1 << max(unit - taken, 0) for taken in (*lengths, length))
    if used > quota:
        raise conflict("SubnetPoolQuotaExceeded", "The project's quota in the pool is used up.")
