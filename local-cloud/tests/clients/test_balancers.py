"""The ``openstack loadbalancer`` commands against a running cloud."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("octaviaclient", reason="python-octaviaclient is not installed")

Run = Callable[..., list[Any]]


def test_load_balancer_with_all_parts_is_managed(openstack: Run) -> None:
    answers = openstack(
        "network create net",
        "subnet create sub --network net --subnet-range 10.30.0.0/24",
        "loadbalancer create --name lb --vip-subnet-id sub --wait",
        "loadbalancer listener create --name web --protocol HTTP --protocol-port 80 lb --wait",
        "loadbalancer pool create --name pool --listener web --protocol HTTP "
        "--lb-algorithm ROUND_ROBIN --session-persistence type=HTTP_COOKIE --wait",
        "loadbalancer member create --name one --address 10.30.0.50 --protocol-port 8080 "
        "--subnet-id sub --weight 5 pool --wait",
        "loadbalancer healthmonitor create --name monitor --delay 60 --timeout 5 --max-retries 2 "
        "--type HTTP --url-path /health pool --wait",
        "loadbalancer l7policy create --name policy --action REJECT web --wait",
        "loadbalancer l7rule create --type PATH --compare-type STARTS_WITH --value /no policy "
        "--wait",
        "loadbalancer member set --weight 7 pool one --wait",
        "loadbalancer member show pool one",
        "loadbalancer listener list --loadbalancer lb",
        "loadbalancer status 'show' lb",  # in quotes: it prints JSON without being asked
        "loadbalancer stats show lb",
        "loadbalancer pool unset --session-persistence pool --wait",
        "loadbalancer pool show pool",
        "loadbalancer provider list",
        "loadbalancer quota defaults show",
        "loadbalancer delete lb",
        "loadbalancer delete lb --cascade --wait",
        "loadbalancer list",
        "subnet delete sub",
        "network delete net",
    )
    assert (answers[2]["provisioning_status"], answers[2]["name"]) == ("ACTIVE", "lb")
    assert answers[2]["vip_address"].startswith("10.30.0.")
    assert answers[3]["protocol_port"] == 80
    assert (answers[5]["weight"], answers[10]["weight"]) == (5, 7)
    assert answers[6]["url_path"] == "/health"
    assert [row["name"] for row in answers[11]] == ["web"]
    tree = answers[12]["loadbalancer"]
    assert tree["listeners"][0]["pools"][0]["members"][0]["name"] == "one"
    assert answers[13]["total_connections"] == 0
    assert not answers[15]["session_persistence"]
    assert [row["name"] for row in answers[16]] == ["amphora", "octavia"]
    assert answers[17]["listener"] == -1
    assert "it has children" in answers[18]
    assert answers[20] == []
    assert answers[21:] == ["", ""]
