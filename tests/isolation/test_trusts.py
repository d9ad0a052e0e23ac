"""The trust that a user's stacks act by, in a running service."""

from __future__ import annotations

import time
from typing import Any

import httpx

from tests.isolation.people import Person, admin, newcomer
from tests.recovery.service import Service, until

NETWORK = {
    "heat_template_version": "2018-08-31",
    "resources": {"net": {"type": "OS::Neutron::Net"}},
}


def trusts(service: Service, owner: Person) -> list[dict[str, Any]]:
    found = service.cloud("/identity/v3/OS-TRUST/trusts")["trusts"]
    return [trust for trust in found if trust["project_id"] == owner.project]


def test_shared_trust_is_deleted_with_last_stack(service: Service) -> None:
    owner = newcomer(service, "sharer")
    stacks = {name: owner.create(name, NETWORK) for name in ("one", "two", "three")}
    assert len(trusts(service, owner)) == 1
    for name, stack_id in stacks.items():
        assert len(trusts(service, owner)) == 1
        assert owner.ask("DELETE", f"/stacks/{name}/{stack_id}").status_code == 204
        owner.wait_deleted(name, stack_id)
    until(lambda: not trusts(service, owner), "the trust is removed")


def test_trust_is_removed_after_a_crash_as_well(service: Service) -> None:
    owner = newcomer(service, "crashed")
    stack_id = owner.create("last", NETWORK)
    assert owner.ask("DELETE", f"/stacks/last/{stack_id}").status_code == 204
    owner.wait_deleted("last", stack_id)
    service.kill()
    service.start()
    until(lambda: not trusts(service, owner), "the trust is removed")


def test_stacks_recover_from_a_deleted_trust(service: Service) -> None:
    owner = newcomer(service, "robbed")
    stack_id = owner.create("stays", NETWORK)
    (trust,) = trusts(service, owner)
    address = f"{service.cloud_url}/identity/v3/OS-TRUST/trusts/{trust['id']}"
    headers = {"X-Auth-Token": admin(service).token}
    assert httpx.delete(address, headers=headers, timeout=30).status_code == 204
    assert not trusts(service, owner)
    service.kill()  # with it goes what it knew of tokens
    service.start()
    before = time.monotonic()
    assert owner.ask("DELETE", f"/stacks/stays/{stack_id}").status_code == 204
    owner.wait_deleted("stays", stack_id)
    assert time.monotonic() - before < 20
    until(lambda: not trusts(service, owner), "the new trust is removed")
    owner.create("another", NETWORK)
    assert len(trusts(service, owner)) == 1
