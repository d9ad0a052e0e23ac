"""The ``openstack`` command against a running cloud."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., list[Any]]


def test_network_with_router_and_floating_ip_is_managed(openstack: Run) -> None:
    answers = openstack(
        "network create n1 --description d --tag t1 --mtu 1400",
        "network set n1 --name n2 --tag t2",
        "network unset n2 --tag t1",
        "network list --long --tags t2",
        "subnet create s1 --network n2 --subnet-range 10.20.0.0/24 --dns-nameserver 9.9.9.9 "
        "--allocation-pool start=10.20.0.10,end=10.20.0.99",
        "subnet set s1 --dns-nameserver 8.8.8.8",
        "subnet show s1",
        "router create r1 --external-gateway public",
        "router add subnet r1 s1",
        "router set r1 --route destination=10.77.0.0/16,gateway=10.20.0.50",
        "router show r1",
        "router unset r1 --route destination=10.77.0.0/16,gateway=10.20.0.50",
        "port create p1 --network n2 --fixed-ip subnet=s1,ip-address=10.20.0.20",
        "port set p1 --description hello --tag pt",
        "port list --network n2 --fixed-ip ip-address=10.20.0.20",
        "floating ip create public --port p1 --description fd --tag ft",
        "floating ip list --long",
        "router remove subnet r1 s1",
        "port delete p1",
        "router remove subnet r1 s1",
        "router delete r1",
        "subnet delete s1",
        "network delete n2",
        "network list --internal",
    )
    assert answers[0]["mtu"] == 1400
    assert [row["Name"] for row in answers[3]] == ["n2"]
    assert sorted(answers[6]["dns_nameservers"]) == ["8.8.8.8", "9.9.9.9"]
    assert answers[10]["routes"] == [{"destination": "10.77.0.0/16", "nexthop": "10.20.0.50"}]
    (interface,) = answers[10]["interfaces_info"]
    assert interface["ip_address"] == "10.20.0.1"
    assert [row["Name"] for row in answers[14]] == ["p1"]
    assert answers[15]["floating_ip_address"].startswith("127.24.")
    (listed,) = answers[16]
    assert (listed["Fixed IP Address"], listed["Status"]) == ("10.20.0.20", "ACTIVE")
    assert "409" in answers[17]
    assert answers[18:23] == ["", "", "", "", ""]
    assert [row["Name"] for row in answers[23]] == ["private"]


def test_security_groups_and_their_rules_come_and_go(openstack: Run) -> None:
    answers = openstack(
        "security group create web --description w",
        "security group rule create web --protocol tcp --dst-port 80:81",
        "security group rule create web --protocol tcp --dst-port 80:81",
        "security group rule create web --protocol icmp --icmp-type 8 --icmp-code 0",
        "security group rule create web --ethertype IPv6 --remote-group default",
        "security group rule list web",
        "security group set web --name web2 --tag x",
        "security group show web2",
        "security group delete web2",
        "security group list",
    )
    assert answers[1]["port_range_max"] == 81
    assert "409" in answers[2]
    assert (answers[3]["port_range_min"], answers[3]["port_range_max"]) == (8, 0)
    assert len(answers[5]) == 5
    assert answers[7]["tags"] == ["x"]
    assert answers[8] == ""
    assert [row["Name"] for row in answers[9]] == ["default"]


def test_administrators_share_count_and_limit(openstack: Run, cloud_dir: Path) -> None:
    address = f"127.24.{(cloud_dir / 'cloud/floating-range').read_text().strip()}.77"
    answers = openstack(
        "network create shared --share --provider-network-type vlan "
        "--provider-physical-network phys --provider-segment 55",
        "subnet create shared1 --network shared --subnet-range 10.50.0.0/24",
        "ip availability list",
        "router create r --ha --external-gateway public",
        f"router set r --external-gateway public --disable-snat --fixed-ip ip-address={address}",
        "router show r",
        "router unset r --external-gateway",
        "router delete r",
        "quota set demo --networks 7",
        "quota show demo --network",
        "quota delete demo --network",
        "network agent list",
        "network delete shared",
        user="admin",
    )
    assert answers[0]["provider:segmentation_id"] == 55
    assert {row["Network Name"] for row in answers[2]} >= {"shared", "public"}
    gateway = answers[5]["external_gateway_info"]
    assert gateway["enable_snat"] is False
    assert gateway["external_fixed_ips"][0]["ip_address"] == address
    assert answers[6:9] == ["", "", ""]
    limits = {row["Resource"]: row["Limit"] for row in answers[9]}
    assert limits["networks"] == 7
    assert len(answers[11]) == 4
    assert answers[12] == ""
