"""Random malformed requests: no fault of the service, no slow answer, no leaked secret."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import httpx
import pytest

from tests.bad_input.fuzz import Fuzzer, Hostile, Sender
from tests.isolation.people import Person, admin, newcomer
from tests.recovery.service import Service

SECRET = "known-to-the-other-project-only"
TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "resources": {
        "a": {"type": "OS::Heat::Value", "properties": {"value": SECRET}},
        "h": {"type": "OS::Heat::WaitConditionHandle"},
    },
    "outputs": {"o": {"value": {"get_attr": ["a", "value"]}}},
}
MEBIBYTES = 600  # seconds that the service may take for any request
SEED = int(os.environ.get("FUZZ_SEED", "7"))


class Scene:
    """People with stacks, and who sends in their names."""

    def __init__(self, service: Service) -> None:
        self.member = newcomer(service, "fuzzer")
        other = newcomer(service, "fuzzed")
        people = {
            "member": self.member,
            "reader": newcomer(service, "fuzz-reader", "reader", self.member.project),
            "admin": admin(service),
            "other": other,
        }
        harmless = {**TEMPLATE, "resources": {"h": TEMPLATE["resources"]["h"]}, "outputs": {}}
        own = self.member.create("mine", harmless)
        theirs = other.create("theirs", TEMPLATE)
        self.words = ["mine", own, "a", "h", "o", "1", theirs, "theirs", other.project]
        self.words += [self.member.project, self.member.user, "OS::Heat::Value", f"mine/{own}"]
        self.words += [arn(self.member, "mine", own), arn(other, "theirs", theirs)]
        self.tokens = {role: person.token for role, person in people.items()}
        self.service = service

    def fuzzer(self, seed: int) -> Fuzzer:
        return Fuzzer(seed, self.member.project, self.words)


def arn(person: Person, name: str, stack_id: str) -> str:
    return f"arn:openstack:heat::{person.project}:stacks/{name}/{stack_id}/resources/h"


@pytest.fixture(scope="module")
def scene(service: Service) -> Scene:
    return Scene(service)


def attack(scene: Scene, url: str, requests: list[Hostile]) -> Counter[int]:
    sender = Sender(url, scene.tokens, SECRET)
    statuses = Counter(sender.send(request) for request in requests)
    sender.close()
    assert not sender.faults, "\n".join(sender.faults[:20])
    return statuses


def peak(scene: Scene) -> int:
    """The most memory that the service has had, in MiB."""
    assert scene.service.process is not None
    status = Path(f"/proc/{scene.service.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


def assert_alive(scene: Scene) -> None:
    assert httpx.get(f"{scene.service.url}/healthcheck", timeout=10).status_code == 200
    assert scene.member.ask("GET", "/stacks").status_code == 200
    assert peak(scene) < MEBIBYTES


def test_hostile_requests_to_the_service_are_refused(scene: Scene) -> None:
    statuses = attack(scene, scene.service.url, list(scene.fuzzer(SEED).service(400)))
    assert statuses[400] > 30  # they come as far as to the parser
    assert statuses[200] > 10
    assert_alive(scene)


def test_hostile_requests_to_the_local_cloud_are_refused(scene: Scene) -> None:
    statuses = attack(scene, scene.service.cloud_url, list(scene.fuzzer(SEED).cloud(300)))
    assert statuses[404] > 20
    assert_alive(scene)


@pytest.mark.long
@pytest.mark.parametrize("part", range(50))
def test_fifty_thousand_hostile_requests_are_refused(scene: Scene, part: int) -> None:
    fuzzer = scene.fuzzer(1000 + part)
    statuses = attack(scene, scene.service.url, list(fuzzer.service(1000)))
    assert statuses.total() == 1000
    attack(scene, scene.service.cloud_url, list(fuzzer.cloud(300)))
    assert_alive(scene)
