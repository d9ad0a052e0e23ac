"""Zones and record sets, and the answers of the name server for them."""

from typing import Any

import dns.asyncquery
import dns.message
import dns.rcode
import pytest

from cloud_testing.caller import Caller
from cloud_testing.doubles import ManualClock
from localcloud.core.cloud import Cloud, LazyService
from localcloud.dns.service import DnsService

ZONE = {"name": "example.org.", "email": "a@example.org"}
SECONDS = 30


async def made(names: Caller, **fields: Any) -> Any:
    """A new zone, once it is there."""
    zone = await names.call("POST", "/zones", {**ZONE, **fields}, 202)
    assert (zone["status"], zone["action"]) == ("PENDING", "CREATE")
    shown = await names.get(f"/zones/{zone['id']}")
    assert (shown["status"], shown["action"]) == ("ACTIVE", "NONE")
    return shown


async def added(names: Caller, zone: Any, name: str, kind: str, *records: str, **more: Any) -> str:
    """The path of a new record set, once it is there."""
    path = f"/zones/{zone['id']}/recordsets"
    body = {"name": name, "type": kind, "records": records, **more}
    shown = await names.call("POST", path, body, 202)
    assert shown["status"] == "PENDING"
    path = f"{path}/{shown['id']}"
    assert (await names.get(path))["status"] == "ACTIVE"
    return path


async def ask(cloud: Cloud, name: str, kind: str = "A", by: Any = dns.asyncquery.udp) -> Any:
    """Return the answer of the name server."""
    address = cloud.fabric.resolvers.own
    assert address is not None
    question = dns.message.make_query(name, kind)
    return await by(question, address[0], timeout=SECONDS, port=address[1])


async def found(cloud: Cloud, name: str, kind: str = "A", by: Any = dns.asyncquery.udp) -> Any:
    answer = await ask(cloud, name, kind, by)
    return sorted(record.to_text() for rrset in answer.answer for record in rrset)


async def refusal(names: Caller, method: str, path: str, body: Any, status: int) -> Any:
    answer = await names.call(method, path, body, status)
    assert answer["code"] == status
    assert answer["request_id"].startswith("req-")
    return answer


async def test_a_zone_is_made_changed_and_deleted(
    names: Caller, cloud: Cloud, clock: ManualClock
) -> None:
    zone = await made(names, ttl=600, description="d")
    assert (zone["type"], zone["masters"], zone["version"]) == ("PRIMARY", [], 1)
    assert zone["links"]["self"].endswith(f"/dns/v2/zones/{zone['id']}")
    kinds = [r["type"] for r in (await names.get(f"/zones/{zone['id']}/recordsets"))["recordsets"]]
    assert kinds == ["SOA", "NS"]
    assert await found(cloud, "example.org.", "NS") == ["ns1.localcloud."]
    clock.advance(10)
    body = {"email": "b@example.org", "ttl": 60}
    changed = await names.call("PATCH", f"/zones/{zone['id']}", body, 202)
    assert (changed["status"], changed["serial"]) == ("PENDING", zone["serial"] + 10)
    (start,) = await found(cloud, "example.org.", "SOA")
    assert start.split()[1:3] == ["b.example.org.", str(changed["serial"])]
    deleted = await names.call("DELETE", f"/zones/{zone['id']}", expect=202)
    assert (deleted["status"], deleted["action"]) == ("PENDING", "DELETE")
    assert (await ask(cloud, "example.org.", "NS")).rcode() == dns.rcode.REFUSED
    told = await refusal(names, "GET", f"/zones/{zone['id']}", None, 404)
    assert (told["type"], told["message"]) == ("zone_not_found", "Could not find Zone")


async def test_records_are_answered(names: Caller, cloud: Cloud) -> None:
    zone = await made(names)
    path = await added(names, zone, "www.example.org.", "A", "192.0.2.1", "192.0.2.2", ttl=60)
    await added(names, zone, "alias.example.org.", "CNAME", "www.example.org.")
    await added(names, zone, "*.wild.example.org.", "TXT", '"any"')
    await added(names, zone, "example.org.", "MX", "10 mail.example.org.")
    assert await found(cloud, "WWW.example.org.") == ["192.0.2.1", "192.0.2.2"]
    assert await found(cloud, "www.example.org.", by=dns.asyncquery.tcp) == [
        "192.0.2.1", "192.0.2.2",
    ]  # fmt: skip
    assert await found(cloud, "alias.example.org.") == [
        "192.0.2.1", "192.0.2.2", "www.example.org.",
    ]  # fmt: skip
    assert await found(cloud, "x.wild.example.org.", "TXT") == ['"any"']
    assert await found(cloud, "example.org.", "MX") == ["10 mail.example.org."]
    nothing = await ask(cloud, "www.example.org.", "AAAA")
    assert (nothing.rcode(), nothing.answer) == (dns.rcode.NOERROR, [])
    assert nothing.authority[0].to_text().split()[3] == "SOA"
    assert (await ask(cloud, "none.example.org.")).rcode() == dns.rcode.NXDOMAIN
    assert (await ask(cloud, "example.com.")).rcode() == dns.rcode.REFUSED
    before = (await names.get(f"/zones/{zone['id']}"))["serial"]
    await names.call("PUT", path, {"records": ["192.0.2.9"]}, 202)
    assert await found(cloud, "www.example.org.") == ["192.0.2.9"]
    shown = await names.get(path)
    assert (shown["ttl"], shown["version"], shown["zone_name"]) == (60, 2, "example.org.")
    assert (await names.get(f"/zones/{zone['id']}"))["serial"] > before
    await names.call("DELETE", path, expect=202)
    assert (await ask(cloud, "www.example.org.")).rcode() == dns.rcode.NXDOMAIN
    told = await refusal(names, "GET", path, None, 404)
    assert told["message"] == "Could not find RecordSet"


async def test_long_answer_is_complete_by_tcp_only(names: Caller, cloud: Cloud) -> None:
    zone = await made(names)
    texts = [f'"{number:02}{"x" * 200}"' for number in range(20)]
    await added(names, zone, "long.example.org.", "TXT", *texts)
    assert (await ask(cloud, "long.example.org.", "TXT")).flags & dns.flags.TC
    assert len(await found(cloud, "long.example.org.", "TXT", dns.asyncquery.tcp)) == 20


async def test_a_part_of_a_zone_is_handed_on(names: Caller, cloud: Cloud) -> None:
    zone = await made(names)
    await added(names, zone, "sub.example.org.", "NS", "ns.example.com.")
    answer = await ask(cloud, "www.sub.example.org.")
    assert answer.answer == []
    assert [str(rrset.name) for rrset in answer.authority] == ["sub.example.org."]


async def test_projects_have_zones_of_their_own(names: Caller) -> None:
    zone = await made(names)
    other = names.of("other")
    assert (await other.get("/zones"))["metadata"]["total_count"] == 0
    await refusal(other, "GET", f"/zones/{zone['id']}", None, 404)
    assert (await refusal(other, "POST", "/zones", ZONE, 409))["message"] == "Duplicate Zone"
    child = {**ZONE, "name": "a.example.org."}
    assert (await refusal(other, "POST", "/zones", child, 403))["type"] == "illegal_child"
    await made(names, name="b.a.example.com.")
    parent = {**ZONE, "name": "a.example.com."}
    assert (await refusal(other, "POST", "/zones", parent, 403))["type"] == "illegal_parent"
    every = names.of("admin", X_Auth_All_Projects="true")
    assert (await every.get("/zones"))["metadata"]["total_count"] == 2
    child = await made(names, name="sub.example.org.")
    told = await refusal(names, "DELETE", f"/zones/{zone['id']}", None, 400)
    assert told["type"] == "zone_has_sub_zone"
    body = {"name": "www.sub.example.org.", "type": "A", "records": ["192.0.2.1"]}
    told = await refusal(names, "POST", f"/zones/{zone['id']}/recordsets", body, 400)
    assert told["message"] == "RecordSet belongs in a child zone: sub.example.org."


async def test_lists_have_filters_and_pages(names: Caller) -> None:
    zone = await made(names)
    for number in range(3):
        await added(names, zone, f"h{number}.example.org.", "A", f"192.0.2.{number}")
    path = f"/zones/{zone['id']}/recordsets"
    first = await names.get(f"{path}?type=A&limit=2&sort_key=name&sort_dir=desc")
    assert [r["name"] for r in first["recordsets"]] == ["h2.example.org.", "h1.example.org."]
    assert first["metadata"] == {"total_count": 3}
    rest = await names.get(first["links"]["next"])
    assert [r["name"] for r in rest["recordsets"]] == ["h0.example.org."]
    assert (await names.get("/recordsets?records=192.0.2.1"))["metadata"]["total_count"] == 1
    assert (await names.get("/zones?name=*.org."))["metadata"]["total_count"] == 1
    for query in ("limit=x", "marker=x", "sort_key=x", "sort_dir=x"):
        await refusal(names, "GET", f"{path}?{query}", None, 400)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"name": "example.org"}, "'example.org' is not a 'domain'"),
        ({"name": "org."}, "More than one label is required"),
        ({"email": None}, "'email' is a required property"),
        ({"email": "nobody"}, "'nobody' is not a 'email'"),
        ({"ttl": -1}, "-1 is not between"),
        ({"ttl": "x"}, "'x' is not of type 'integer'"),
        ({"type": "ODD"}, "'ODD' is not one of"),
        ({"type": "SECONDARY", "email": None}, "'masters' is a required property"),
        ({"masters": ["192.0.2.1"]}, "'masters' has more items than allowed"),
        ({"colour": "red"}, "Additional properties are not allowed ('colour' was unexpected)"),
    ],
)
async def test_what_makes_no_zone_is_refused(names: Caller, fields: Any, reason: str) -> None:
    told = await refusal(names, "POST", "/zones", {**ZONE, **fields}, 400)
    errors = told.get("errors", {"errors": []})["errors"]
    assert reason in [told["message"], *(e["message"] for e in errors)][-1]


@pytest.mark.parametrize(
    ("name", "kind", "records", "reason"),
    [
        ("www.example.com.", "A", ["192.0.2.1"], "not contained within it's parent zone"),
        ("www.example.org", "A", ["192.0.2.1"], "is not a 'hostname'"),
        ("www.example.org.", "A", ["none"], "'none' is not a 'A' Record"),
        ("www.example.org.", "ODD", ["x"], "'ODD' is not a supported record type"),
        ("example.org.", "SOA", ["x"], "Creating a SOA recordset is not allowed"),
        ("example.org.", "CNAME", ["a.b."], "may not be created at the zone apex"),
        ("one.example.org.", "CNAME", ["a.b.", "c.d."], "may not have more than 1 record."),
        ("known.example.org.", "CNAME", ["a.b."], "may not share a name with any other records"),
    ],
)
async def test_what_makes_no_record_set_is_refused(
    names: Caller, name: str, kind: str, records: list[str], reason: str
) -> None:
    zone = await made(names)
    await added(names, zone, "known.example.org.", "A", "192.0.2.1")
    body = {"name": name, "type": kind, "records": records}
    told = await refusal(names, "POST", f"/zones/{zone['id']}/recordsets", body, 400)
    errors = told.get("errors", {"errors": []})["errors"]
    assert reason in [told["message"], *(e["message"] for e in errors)][-1]


async def test_quotas_limit_a_project(names: Caller) -> None:
    admin, path = names.of("admin"), "/quotas/demo-project"
    await refusal(names, "PATCH", path, {"zones": 1}, 403)
    assert (await admin.call("PATCH", path, {"zones": 1, "recordset_records": 1}))["zones"] == 1
    zone = await made(names)
    told = await refusal(names, "POST", "/zones", {**ZONE, "name": "example.net."}, 413)
    assert (told["type"], told["message"]) == ("over_quota", "Quota exceeded for zones.")
    body = {"name": "w.example.org.", "type": "A", "records": ["192.0.2.1", "192.0.2.2"]}
    await refusal(names, "POST", f"/zones/{zone['id']}/recordsets", body, 413)
    await admin.call("DELETE", path, expect=204)
    assert (await names.get("/limits"))["max_zones"] == 1000


async def test_a_floating_ip_has_a_name(names: Caller, cloud: Cloud) -> None:
    floating_ip = "5f0c1d1e-9a0e-4c7a-8f5e-2b3c0a6d7e91"
    record = {"id": floating_ip, "project_id": "demo-project"}
    floating_ips = cloud.store.collection("network.floatingip")
    floating_ips.put({**record, "floating_ip_address": "127.24.9.9"})
    path = f"/reverse/floatingips/RegionOne:{floating_ip}"
    assert (await names.get(path))["ptrdname"] is None
    shown = await names.call("PATCH", path, {"ptrdname": "www.example.org."}, 202)
    assert (shown["address"], shown["ptrdname"]) == ("127.24.9.9", "www.example.org.")
    assert await found(cloud, "9.9.24.127.in-addr.arpa.", "PTR") == ["www.example.org."]
    assert len((await names.get("/reverse/floatingips"))["floatingips"]) == 1
    await refusal(names.of("other"), "GET", path, None, 404)
    await refusal(names, "GET", "/reverse/floatingips/odd", None, 400)
    await names.call("PATCH", path, {"ptrdname": None}, 202)
    answer = await ask(cloud, "9.9.24.127.in-addr.arpa.", "PTR")
    assert answer.rcode() == dns.rcode.REFUSED


async def test_the_name_server_answers_again_after_a_restart(
    names: Caller, cloud: Cloud, service: LazyService
) -> None:
    zone = await made(names)
    await added(names, zone, "www.example.org.", "A", "192.0.2.1")
    await service.stop()
    again = DnsService(cloud)
    await again.start()
    assert await found(cloud, "www.example.org.") == ["192.0.2.1"]
    await again.stop()


async def test_what_is_no_question_gets_no_answer(names: Caller, cloud: Cloud) -> None:
    from localcloud.dns.model.state import State
    from localcloud.dns.name_server.answers import answer

    await made(names)
    state = State(cloud)
    for wire in (b"", b"x", b"\x00" * 12, b"\xff" * 40):
        assert answer(state, wire) is None or len(answer(state, wire) or b"") >= 12
    response = dns.message.make_response(dns.message.make_query("example.org.", "A"))
    assert answer(state, response.to_wire()) is None
