"""The default quotas suffice for stacks of a thousand servers."""

from localcloud.compute.model import quotas as compute
from localcloud.network.model import quotas as network


def test_thousand_servers_fit_the_default_quotas():
    largest_flavor = {"cores": 4, "ram": 2048}
    assert compute.DEFAULTS["instances"] >= 1000
    for name, each in largest_flavor.items():
        assert compute.DEFAULTS[name] >= 1000 * each
    for kind in ("network", "subnet", "router", "floatingip", "security_group"):
        assert network.DEFAULTS[kind] >= 1000
    assert network.DEFAULTS["port"] >= 4000
    assert network.DEFAULTS["security_group_rule"] >= 10000
