"""Many requests at the same instant: each gets one clear answer, and nothing is left over."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from tests.isolation.people import Person, demo, newcomer
from tests.recovery.service import Service, until

TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "resources": {"a": {"type": "OS::Heat::RandomString"}},
}
SLOW = {
    "heat_template_version": "2018-08-31",
    "resources": {"a": {"type": "OS::Heat::TestResource", "properties": {"wait_secs": 3}}},
}


def trusts(service: Service, owner: Person) -> int:
    found = service.cloud("/identity/v3/OS-TRUST/trusts")["trusts"]
    return len([trust for trust in found if trust["project_id"] == owner.project])


def test_one_of_many_equal_creates_wins(
    service: Service,
) -> None:
    owner = demo(service)
    body = {"stack_name": "race", "template": TEMPLATE}
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: owner.ask("POST", "/stacks", body), range(12)))
    assert Counter(a.status_code for a in answers) == {201: 1, 409: 11}
    assert trusts(service, owner) == 1


def test_concurrent_updates_are_all_accepted(service: Service) -> None:
    owner = demo(service)
    path = f"/stacks/updates/{owner.create('updates', TEMPLATE)}"
    resources = {"b": {"type": "OS::Heat::RandomString"}}
    body = {"template": {**TEMPLATE, "resources": resources}}
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: owner.ask("PUT", path, body), range(8)))
    assert {a.status_code for a in answers} == {202}
    name, stack_id = path.split("/")[2:]
    until(lambda: owner.status(name, stack_id) == "UPDATE_COMPLETE", "the update ends")
    shown = owner.ask("GET", f"{path}/resources").json()["resources"]
    assert [r["resource_name"] for r in shown] == ["b"]


def test_concurrent_deletes_during_create_leave_nothing(service: Service) -> None:
    owner = newcomer(service, "short-lived")
    answer = owner.ask("POST", "/stacks", {"stack_name": "short", "template": SLOW})
    assert answer.status_code == 201, answer.text
    stack_id = answer.json()["stack"]["id"]
    with ThreadPoolExecutor(2) as pool:
        path = f"/stacks/short/{stack_id}"
        answers = list(pool.map(lambda _: owner.ask("DELETE", path), range(2)))
    assert {a.status_code for a in answers} <= {204, 404}
    owner.wait_deleted("short", stack_id)
    until(lambda: trusts(service, owner) == 0, "the trust is removed behind the last stack")


def test_fifty_concurrent_stacks_are_created(service: Service) -> None:
    owner = demo(service)

    def create(number: int) -> int:
        body = {"stack_name": f"crowd-{number}", "template": TEMPLATE, "tags": "crowd"}
        return owner.ask("POST", "/stacks", body).status_code

    with ThreadPoolExecutor(25) as pool:
        assert set(pool.map(create, range(50))) == {201}

    def complete() -> bool:
        found = owner.ask("GET", "/stacks?tags=crowd&status=CREATE_COMPLETE&with_count=true")
        return bool(found.json()["count"] == 50)

    until(complete, "all stacks are complete", 60)
