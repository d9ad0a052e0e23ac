"""Arithmetic on addresses, checked against plain sets."""

from ipaddress import ip_address, ip_network

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from localcloud.network.model import ipam

POOLS = [
    ipam.Pool(ip_address("10.0.0.2"), ip_address("10.0.0.5")),
    ipam.Pool(ip_address("10.0.0.9"), ip_address("10.0.0.12")),
]
INSIDE = [f"10.0.0.{n}" for n in (2, 3, 4, 5, 9, 10, 11, 12)]
ANY = [f"10.0.0.{n}" for n in range(1, 15)]


class AllocationMachine(RuleBasedStateMachine):
    """Takes and releases addresses in any order; the lowest free one is always found."""

    def __init__(self) -> None:
        super().__init__()
        self.subnet = ipam.SubnetAddresses(POOLS)
        self.taken: set[str] = set()

    @rule(excluded=st.sets(st.sampled_from(INSIDE)))
    def take_next(self, excluded: set[str]) -> None:
        free = [a for a in INSIDE if a not in self.taken and a not in excluded]
        found = self.subnet.next_free(excluded)
        if not free:
            assert found is None
            return
        assert found in free
        self.subnet.take(found, "someone")
        self.taken.add(found)

    @rule(address=st.sampled_from(ANY))
    def take_explicitly(self, address: str) -> None:
        if address not in self.taken:
            self.subnet.take(address, "someone")
            self.taken.add(address)

    @rule(address=st.sampled_from(ANY))
    def release(self, address: str) -> None:
        self.subnet.release(address)
        self.taken.discard(address)

    @invariant()
    def owners_are_known(self) -> None:
        assert {a for a in ANY if self.subnet.owner(a)} == self.taken


TestAllocation = AllocationMachine.TestCase


def test_released_address_taken_by_name_is_not_reassigned() -> None:
    subnet = ipam.SubnetAddresses(POOLS)
    first = subnet.next_free()
    assert first is not None
    subnet.take(first, "someone")
    subnet.take("10.0.0.3", "someone")
    assert subnet.next_free() == "10.0.0.4"
    subnet.release(first)
    subnet.take(first, "another")
    assert subnet.next_free() == "10.0.0.4"


networks = st.builds(
    lambda number, length: ip_network((number, length), strict=False),
    st.integers(0, 2**32 - 1),
    st.integers(8, 30),
)


@given(networks, st.data())
def test_default_pools_are_all_hosts_but_the_gateway(
    net: ipam.IPNetwork, data: st.DataObject
) -> None:
    hosts = ipam.host_range(net)
    number = data.draw(st.integers(int(hosts.first), int(hosts.last)))
    gateway = str(ip_address(number))
    pools = ipam.default_pools(net, gateway)
    ipam.check_pools(net, gateway, pools)
    assert ipam.pool_size(pools) == net.num_addresses - 3
    assert all(ip_address(gateway) not in pool for pool in pools)


@given(st.lists(st.integers(24, 30), max_size=40))
def test_prefixes_out_of_a_pool_never_overlap(lengths: list[int]) -> None:
    pool = ip_network("10.0.0.0/22")
    used: list[ipam.IPNetwork] = []
    for length in lengths:
        found = ipam.free_prefix([pool], used, length)
        free = [
            net
            for net in pool.subnets(new_prefix=length)
            if not any(net.overlaps(other) for other in used)
        ]
        assert found == (free[0] if free else None)
        if found is not None:
            used.append(found)


def test_address_from_mac_flips_local_bit() -> None:
    net = ip_network("2001:db8::/64")
    assert ipam.eui64(net, "00:16:3e:00:00:01") == "2001:db8::216:3eff:fe00:1"
