"""Custom constraints that need no cloud."""

import pytest

from stoker.schema.checks import CLOUD, PURE

GOOD = {
    "ip_addr": ["10.0.0.1", "fe80::1"],
    "net_cidr": ["10.0.0.0/24", "10.0.0.1/24", "2001:db8::/32"],
    "ip_or_cidr": ["10.0.0.1", "10.0.0.0/8"],
    "mac_addr": ["aa:bb:cc:dd:ee:ff", "AA-BB-CC-DD-EE-FF", "aabb.ccdd.eeff"],
    "dns_name": ["a.b", "host", "host.example.com.", "web.2", ""],
    "rel_dns_name": ["a.b", "web.2", ""],
    "dns_domain": ["example.com.", ""],
    "cron_expression": ["* * * * *", "*/5 0-6,12 1 jan mon-fri", "@daily"],
    "timezone": ["UTC", "Europe/Prague", ""],
    "iso_8601": ["2020-01-01T00:00:00Z", "2020-01-01"],
    "expiration": ["2950-01-01T00:00:00Z", ""],
    "json_string": ['{"a":1}', "5"],
    "test_constr": [0, 1],
}
BAD = {
    "ip_addr": ["10.0.0", "x", "10.0.0.0/24"],
    "net_cidr": ["10.0.0.0/99", "10.0.0.0", "x/8"],
    "ip_or_cidr": ["x", "10.0.0.0/33"],
    "mac_addr": ["zz", "aa:bb:cc:dd:ee", "aa:bb-cc:dd:ee:ff"],
    "dns_name": ["-a.b", "x" * 64, "a..b", "a.1.", ".", ".".join(["a" * 60] * 5)],
    "rel_dns_name": ["a.b."],
    "dns_domain": ["example.com"],
    "cron_expression": ["*", "60 * * * *", "* * * foo *", "*/0 * * * *"],
    "timezone": ["Mars/Olympus", "../etc/passwd"],
    "iso_8601": ["yesterday"],
    "expiration": ["2001-01-01T00:00:00Z", "x"],
    "json_string": ["{"],
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, vs in GOOD.items() for v in vs])
def test_good_values_pass(name, value):
    assert PURE[name](value) is None


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, vs in BAD.items() for v in vs])
def test_bad_values_have_a_message(name, value):
    assert PURE[name](value)


def test_no_constraint_is_both_pure_and_cloud():
    assert GOOD.keys() == PURE.keys()
    assert not PURE.keys() & CLOUD
