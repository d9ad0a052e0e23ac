from __future__ import annotations

from threading import Event
from typing import Any

import pytest
from tests.clouds.fake_cloud import FakeCloud
from tests.clouds.fake_services import FakeConnection, Kind, Service
from tests.resource_types_openstack.services import zaqar

from stoker.clouds.objects.collections import NETWORKS
from stoker.clouds.objects.kinds import KINDS, finder_of
from stoker.clouds.objects.lookups import LookupFailedError, Lookups
from stoker.schema.checks import CLOUD
from stoker.schema.properties import Finder

NETWORK = Finder("network", "network")


class ManualClock:
    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        return self.time


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def lookups(clock: ManualClock) -> Lookups:
    return Lookups(clock)


def test_name_and_id_find_same_object(lookups: Lookups) -> None:
    cloud = FakeCloud()
    made = cloud.put("networks", name="blue")
    assert lookups.find(cloud.connection, NETWORK, "blue") == made
    assert lookups.find(cloud.connection, NETWORK, made) == made


def test_a_name_that_two_objects_have_is_refused(lookups: Lookups) -> None:
    cloud = FakeCloud()
    cloud.put("networks", name="blue")
    cloud.put("networks", name="blue")
    with pytest.raises(LookupFailedError, match="'blue' belongs to 2 networks; use an id"):
        lookups.find(cloud.connection, NETWORK, "blue")


def test_a_name_that_none_has_is_refused(lookups: Lookups) -> None:
    with pytest.raises(LookupFailedError, match="there is no network 'blue'"):
        lookups.find(FakeCloud().connection, NETWORK, "blue")


def test_object_without_uuid_is_found(lookups: Lookups) -> None:
    cloud = FakeCloud()
    cloud.tables["flavors"]["42"] = {"id": "42", "name": "small"}
    assert lookups.find(cloud.connection, Finder("compute", "flavor"), "42") == "42"
    assert lookups.find(cloud.connection, Finder("nova", "flavor"), "small") == "42"


def test_queue_is_found_on_any_page(lookups: Lookups) -> None:
    messages = zaqar.service()
    cloud = FakeConnection({"message": messages})
    for number in range(25):
        messages.request(f"/queues/queue-{number}", "PUT", json={})
    queue = Finder("message", "queue")
    assert lookups.find(cloud, queue, "queue-24") == "queue-24"
    with pytest.raises(LookupFailedError, match="there is no message queue 'absent'"):
        lookups.find(cloud, queue, "absent")
    assert len(messages.objects("/queues")) == 25


def test_answers_are_kept_for_a_while(lookups: Lookups, clock: ManualClock) -> None:
    cloud = FakeCloud()
    cloud.put("networks", name="blue")
    lookups.find(cloud.connection, NETWORK, "blue")
    asked = len(cloud.calls)
    lookups.find(cloud.connection, NETWORK, "blue")
    assert len(cloud.calls) == asked
    clock.time += 60
    lookups.find(cloud.connection, NETWORK, "blue")
    assert len(cloud.calls) > asked


def test_many_lookups_are_ordered_and_requested_once(lookups: Lookups) -> None:
    cloud = FakeCloud()
    ids = {name: cloud.put("networks", name=name) for name in "abc"}
    wanted = [(NETWORK, name) for name in "abcabc"]
    assert lookups.find_many(cloud.connection, wanted) == [ids[name] for name in "abcabc"]
    assert cloud.count("GET", NETWORKS.path) == 3


def test_a_constraint_says_what_is_wrong(lookups: Lookups) -> None:
    cloud = FakeCloud()
    cloud.put("networks", name="blue")
    checks = [("neutron.network", "blue"), ("neutron.network", "red"), ("neutron.network", 5)]
    good, missing, odd = lookups.check_many(cloud.connection, checks)
    assert good is None
    assert missing == "there is no network 'red'; there are: blue"
    assert odd == "5 is neither a name nor an id"
    assert lookups.known_faults(cloud.connection, checks) == [good, missing, odd]


def test_a_wrong_name_is_answered_with_candidates(lookups: Lookups) -> None:
    cloud = FakeCloud()

    def verdict(name: str) -> str | None:
        return lookups.check(cloud.connection, "neutron.network", name)

    assert verdict("private") == "there is no network 'private'; there are none"
    cloud.put("networks", name="public")
    cloud.put("networks", name="private")
    lookups = Lookups(ManualClock())
    assert verdict("privat") == "there is no network 'privat' (did you mean \"private\"?)"
    assert verdict("blue") == "there is no network 'blue'; there are: private, public"
    unknown_id = "0" * 32
    assert verdict(unknown_id) == f"there is no network '{unknown_id}'"
    for number in range(10):
        cloud.put("networks", name=f"other-{number}")
    lookups = Lookups(ManualClock())
    assert verdict("blue") == "there is no network 'blue'"


def test_empty_name_is_accepted_for_key_pairs_only(lookups: Lookups) -> None:
    cloud = FakeCloud()
    checks = [("nova.keypair", ""), ("neutron.network", ""), ("nova.flavor", "")]
    assert lookups.check_many(cloud.connection, checks) == [
        None,
        "'' is neither a name nor an id",
        "'' is neither a name nor an id",
    ]
    assert cloud.calls == []


def test_failing_service_is_reported_as_reason(lookups: Lookups) -> None:
    cloud = FakeCloud()
    cloud.refuse("GET", "/networks", 503, "maintenance")
    [reason] = lookups.check_many(cloud.connection, [("neutron.network", "blue")])
    assert reason is not None
    assert "maintenance" in reason
    cloud.refuse("GET", "/networks", 503, "maintenance")
    assert lookups.known_faults(cloud.connection, [("neutron.network", "blue")]) == [None]


def test_slow_service_gives_no_known_fault(clock: ManualClock) -> None:
    released = Event()

    class Slow(FakeCloud):
        def answer(self, *arguments: Any) -> Any:
            released.wait(5.0)
            return super().answer(*arguments)

    lookups, cloud = Lookups(clock, patience_seconds=0.01), Slow()
    assert lookups.known_faults(cloud.connection, [("neutron.network", "blue")]) == [None]
    released.set()


def test_every_constraint_has_a_lookup() -> None:
    finders = map(finder_of, CLOUD)
    assert {(finder.service, finder.kind) for finder in finders} <= KINDS.keys()


def identity() -> FakeConnection:
    """An identity service with users of one name in two domains."""
    kinds = [
        Kind(f"/{plural}", plural[:-1], plural, "name! domain_id id", named_ids=True)
        for plural in ("domains", "users", "projects", "groups", "roles")
    ]
    service = Service(tuple(kinds))
    service.objects("/domains").update(
        {each: {"id": each, "name": each.title()} for each in ("default", "other")}
    )
    for plural in ("users", "projects", "groups", "roles"):
        service.objects(f"/{plural}").update(
            {
                f"{domain}-demo": {"id": f"{domain}-demo", "name": "demo", "domain_id": domain}
                for domain in ("default", "other")
            }
        )
    lookalike = {"id": "imposter", "name": "root{Default}", "domain_id": "other"}
    service.objects("/users")["imposter"] = lookalike
    return FakeConnection({"identity": service})


@pytest.mark.parametrize("kind", ["user", "project", "group", "role"])
def test_name_with_domain_finds_object_of_domain(lookups: Lookups, kind: str) -> None:
    cloud, finder = identity(), Finder("keystone", kind)
    assert lookups.find(cloud, finder, "demo{Default}") == "default-demo"
    assert lookups.find(cloud, finder, "demo{other}") == "other-demo"
    assert lookups.check(cloud, f"keystone.{kind}", "demo{default}") is None
    with pytest.raises(LookupFailedError, match=r"use an id or demo\{DOMAIN\}"):
        lookups.find(cloud, finder, "demo")
    for value, message in {
        "nobody{Default}": f"there is no {kind} 'nobody' in the domain 'Default'",
        "demo{none}": "there is no domain 'none'",
    }.items():
        with pytest.raises(LookupFailedError, match=message):
            lookups.find(cloud, finder, value)


def test_name_in_braces_finds_no_other_domain(lookups: Lookups) -> None:
    with pytest.raises(LookupFailedError, match="there is no user 'root' in the domain 'Default'"):
        lookups.find(identity(), Finder("keystone", "user"), "root{Default}")
    assert lookups.find(identity(), Finder("keystone", "user"), "imposter") == "imposter"


def test_zone_name_with_capitals_finds_the_zone(lookups: Lookups) -> None:
    service = Service((Kind("/zones", "", "zones", "name! id"),))
    service.objects("/zones")["one"] = {"id": "one", "name": "example.org."}
    cloud = FakeConnection({"dns": service})
    assert lookups.find(cloud, finder_of("designate.zone"), "Example.ORG.") == "one"
