from __future__ import annotations

from typing import Any

import pytest
from tests.clouds.driving import Row, checked
from tests.clouds.fake_cloud import FakeCloud

from stoker.clouds.objects.collections import SECURITY_GROUP_RULES
from stoker.kernel.values import replace
from stoker.resources.neutron.security_group import SecurityGroup
from stoker.resources.neutron.security_group_rule import SecurityGroupRule
from stoker.resources.shared.networks.security_group_rules import meaning
from stoker.schema.resource_type import Update, Wait
from stoker.schema.values import check_properties

SSH = {"protocol": "tcp", "port_range_min": 22, "port_range_max": 22}
WEB = {"protocol": "tcp", "port_range_min": 80, "port_range_max": 80}


def group(cloud: FakeCloud, **given: Any) -> Row:
    return Row(SecurityGroup(), cloud.connection, given).create()


def ingress(cloud: FakeCloud) -> list[dict[str, Any]]:
    return [rule for rule in cloud.all("security-group-rules") if rule["direction"] == "ingress"]


def egress(cloud: FakeCloud) -> list[dict[str, Any]]:
    return [rule for rule in cloud.all("security-group-rules") if rule["direction"] == "egress"]


def test_rules_are_added_to_defaults_of_group(cloud: FakeCloud) -> None:
    group(cloud, rules=[SSH])
    assert [rule["port_range_min"] for rule in ingress(cloud)] == [22]
    assert len(egress(cloud)) == 2


def test_user_egress_rules_replace_the_defaults(cloud: FakeCloud) -> None:
    group(cloud, rules=[{**SSH, "direction": "egress"}])
    assert [rule["port_range_min"] for rule in egress(cloud)] == [22]


def test_an_update_touches_only_rules_that_differ(cloud: FakeCloud) -> None:
    made = group(cloud, rules=[SSH])
    ssh = ingress(cloud)[0]["id"]
    made.update(rules=[SSH, WEB])
    assert [rule["port_range_min"] for rule in ingress(cloud)] == [22, 80]
    made.update(rules=[SSH])
    assert [rule["id"] for rule in ingress(cloud)] == [ssh]


def test_equal_rules_in_other_words_are_not_touched(cloud: FakeCloud) -> None:
    made = group(cloud, rules=[{**SSH, "remote_ip_prefix": "10.0.0.0/24"}])
    before = ingress(cloud)[0]["id"]
    made.update(rules=[{**SSH, "remote_ip_prefix": "10.0.0.7/24"}])
    assert [rule["id"] for rule in ingress(cloud)] == [before]


def by_hand(cloud: FakeCloud, made: Row) -> str:
    """A rule that the group has not added; its id."""
    body = {"security_group_id": made.physical_id, "direction": "ingress", "protocol": "icmp"}
    return str(SECURITY_GROUP_RULES.create(cloud.connection, body)["id"])


def ids(cloud: FakeCloud) -> set[str]:
    return {rule["id"] for rule in cloud.all("security-group-rules")}


def test_a_rule_of_others_survives_updates(cloud: FakeCloud) -> None:
    made = group(cloud, rules=[SSH])
    theirs = by_hand(cloud, made)
    made.update(rules=[SSH, WEB])
    made.update(rules=[])
    assert ids(cloud) >= {theirs}
    assert [rule["protocol"] for rule in ingress(cloud)] == ["icmp"]


def test_rule_of_failed_update_is_removed_by_next(cloud: FakeCloud) -> None:
    made = group(cloud, rules=[SSH])
    theirs = by_hand(cloud, made)
    before = made.given
    made.update(rules=[WEB])
    made.given = before  # the update failed later: the properties stay what they were
    made.data = {**made.data, "rules": [*made.data["rules"], list(meaning(ingress_of(SSH)))]}
    made.run("UPDATE", update=Update(checked(made.type, before), frozenset({"rules"})))
    assert [rule.get("port_range_min") for rule in ingress(cloud)] == [None, 22]
    assert theirs in ids(cloud)


def ingress_of(rule: dict[str, Any]) -> dict[str, Any]:
    return {"direction": "ingress", "ethertype": "IPv4", **rule}


def test_update_records_rules_before_adding_them(cloud: FakeCloud) -> None:
    made = group(cloud, rules=[SSH])
    before, after = (checked(made.type, {"rules": rules}) for rules in ([SSH], [WEB]))
    call = replace(
        made.call("UPDATE"), properties=after, update=Update(before, frozenset({"rules"}))
    )
    outcome = SecurityGroup().update(call)
    assert isinstance(outcome, Wait)
    assert list(meaning(ingress_of(WEB))) in (outcome.data or {})["rules"]
    assert [rule["port_range_min"] for rule in ingress(cloud)] == [22]


def test_both_icmpv6_names_mean_the_same_rule(cloud: FakeCloud) -> None:
    wanted = {"protocol": "icmp", "ethertype": "IPv6", "direction": "ingress"}
    assert meaning(wanted) == meaning({**wanted, "protocol": "ipv6-icmp"})
    assert meaning(wanted) != meaning({**wanted, "ethertype": "IPv4"})


def test_a_rule_can_name_its_own_group(cloud: FakeCloud) -> None:
    made = group(cloud, rules=[{**SSH, "remote_mode": "remote_group_id"}])
    assert ingress(cloud)[0]["remote_group_id"] == made.physical_id


def test_group_with_user_name_is_found_again(cloud: FakeCloud) -> None:
    cloud.lose_answer("POST", "/security-groups")
    made = group(cloud, name="web", description="for the web", rules=[SSH])
    [found] = cloud.all("security-groups")
    assert (found["id"], found["description"]) == (made.physical_id, "for the web")


def test_the_name_of_the_default_group_is_refused() -> None:
    [finding] = SecurityGroup().validate({"name": "default"})
    assert "choose another name" in finding.message


def test_lost_rule_is_found_by_its_meaning(cloud: FakeCloud) -> None:
    made = group(cloud)
    given = {"security_group": made.physical_id, **SSH}
    cloud.lose_answer("POST", "/security-group-rules")
    rule = Row(SecurityGroupRule(), cloud.connection, given).create()
    assert [item["id"] for item in ingress(cloud)] == [rule.physical_id]


@pytest.mark.parametrize("protocol", [112, "112", "vrrp", "50", 255, "icmpv6"])
def test_protocols_have_names_and_numbers(cloud: FakeCloud, protocol: Any) -> None:
    made = group(cloud, rules=[{"protocol": protocol}])
    assert [rule["protocol"] for rule in ingress(cloud)] == [str(protocol)]
    single = {"security_group": made.physical_id, "protocol": protocol, "direction": "egress"}
    Row(SecurityGroupRule(), cloud.connection, single).create()
    assert str(protocol) in [rule.get("protocol") for rule in egress(cloud)]


@pytest.mark.parametrize("protocol", [256, "-1", "carrier pigeon", "TCP", True])
def test_what_is_no_protocol_is_refused(protocol: Any) -> None:
    rules = check_properties({"rules": [{"protocol": protocol}]}, SecurityGroup.properties)
    given = {"security_group": "g", "protocol": protocol}
    single = check_properties(given, SecurityGroupRule.properties)
    assert rules.errors
    assert single.errors


def test_protocol_name_and_number_are_same_rule(cloud: FakeCloud) -> None:
    made = group(cloud, rules=[{"protocol": "vrrp"}])
    before = ingress(cloud)[0]["id"]
    made.update(rules=[{"protocol": 112}])
    assert [rule["id"] for rule in ingress(cloud)] == [before]
