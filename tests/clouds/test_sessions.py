"""Sessions of every kind into a local cloud, through the real SDK."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from requests.adapters import HTTPAdapter
from tests.clouds.local_cloud import LocalCloud, running_cloud

from stoker.clouds.credentials import (
    Endpoints,
    ServiceAccess,
    Token,
    Trust,
    UserPassword,
)
from stoker.clouds.faults import CloudError, describe, is_cloud_fault, is_unauthorized
from stoker.clouds.objects.collection import Collection
from stoker.clouds.objects.collections import NETWORKS, PROJECTS, SERVERS
from stoker.clouds.sessions import Sessions
from stoker.kernel.logs.log import request
from stoker.kernel.values import replace


class ManualClock:
    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        return self.time


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    with running_cloud(tmp_path_factory.mktemp("cloud")) as cloud:
        yield cloud


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def seen() -> list[tuple[str, int]]:
    return []


@pytest.fixture
def sessions(
    local: LocalCloud, clock: ManualClock, seen: list[tuple[str, int]]
) -> Iterator[Sessions]:
    endpoints = Endpoints(
        local.credentials["auth_url"],
        region=local.credentials["region"],
        service_user=local.user("stoker"),
    )
    made = Sessions(endpoints, clock, lambda service, status, *_: seen.append((service, status)))
    yield made
    made.close()


def test_a_user_acts_in_its_project(
    local: LocalCloud, sessions: Sessions, seen: list[tuple[str, int]]
) -> None:
    cloud = sessions.connection(local.user("demo"))
    assert "public" in {network["name"] for network in NETWORKS.select(cloud)}
    assert ("network", 200) in seen


def test_a_token_acts(local: LocalCloud, sessions: Sessions) -> None:
    demo = sessions.connection(local.user("demo"))
    acting = sessions.connection(Token(demo.session.get_token()))
    assert NETWORKS.select(acting)
    assert acting.session.get_token() == demo.session.get_token()


def test_one_request_is_made_as_another_user(local: LocalCloud, sessions: Sessions) -> None:
    cloud = sessions.connection(local.user("admin"))
    demo = sessions.connection(local.user("demo")).session
    known = UserPassword(demo.get_user_id(), local.user("demo").password, demo.get_project_id())
    body = {"network": {"name": "by another"}}
    made = cloud.network.post("/networks", json=body, auth=known).json()["network"]
    assert made["project_id"] == known.project_id != cloud.session.get_project_id()
    with pytest.raises(Exception, match="401") as caught:
        cloud.network.get("/networks", auth=replace(known, password="wrong"))
    assert is_unauthorized(caught.value)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_service_that_is_added_later_is_found(local: LocalCloud, clock: ManualClock) -> None:
    own = {"network": ServiceAccess(region="Later")}
    endpoints = Endpoints(
        local.credentials["auth_url"], region=local.credentials["region"], services=own
    )
    sessions = Sessions(endpoints, clock, lambda *_: None)
    cloud = sessions.connection(local.user("demo"))
    admin = sessions.connection(local.user("admin"))
    for _ in range(2):
        with pytest.raises(Exception, match="network service in Later region not found") as fault:
            NETWORKS.select(cloud)
        assert is_cloud_fault(fault.value)
    region = admin.identity.create_region(id="Later")
    service = next(admin.identity.services(type="network"))
    made = admin.identity.create_endpoint(
        service_id=service.id,
        interface="public",
        url=admin.endpoint_for("network", region_name=local.credentials["region"]),
        region_id=region.id,
    )
    with pytest.raises(Exception, match="not found"):  # the catalog was read a moment ago
        NETWORKS.select(cloud)
    clock.time += 61.0
    assert NETWORKS.select(cloud)
    admin.identity.delete_endpoint(made)
    admin.identity.delete_region(region)
    sessions.close()


def test_service_has_its_own_region_and_certificates(local: LocalCloud, clock: ManualClock) -> None:
    own = {
        "network": ServiceAccess(region="elsewhere"),
        "image": ServiceAccess(interface="nosuch"),
        "compute": ServiceAccess(verify=False, certificate=__file__),
    }
    endpoints = Endpoints(
        local.credentials["auth_url"], region=local.credentials["region"], services=own
    )
    asked: list[tuple[str, object, object]] = []

    class Noting(HTTPAdapter):
        def send(self, request: object, **options: Any) -> Any:
            asked.append((request.url, options["verify"], options["cert"]))  # type: ignore[attr-defined]
            return super().send(request, **options)

    made = Sessions(endpoints, clock, lambda *_: None, Noting())
    cloud = made.connection(local.user("demo"))
    SERVERS.select(cloud)
    assert asked[-1][1:] == (False, __file__)
    assert asked[0][1] is not False
    assert asked[0][2] is None
    for service in ("network", "image"):
        with pytest.raises(Exception, match="not found"):
            getattr(cloud, service).get("/").raise_for_status()
    made.close()


def test_calls_carry_id_of_current_request(local: LocalCloud, clock: ManualClock) -> None:
    asked: list[Any] = []

    class Noting(HTTPAdapter):
        def send(self, request: Any, **options: Any) -> Any:
            asked.append(request.headers.get("X-Openstack-Request-Id"))
            return super().send(request, **options)

    made = Sessions(Endpoints(local.credentials["auth_url"]), clock, lambda *_: None, Noting())
    cloud = made.connection(local.user("demo"))
    with request("req-7"):
        NETWORKS.select(cloud)
    assert asked[-1] == "req-7"
    NETWORKS.select(cloud)
    assert asked[-1] is None
    made.close()


def test_the_service_acts_by_a_trust(local: LocalCloud, sessions: Sessions) -> None:
    demo = sessions.connection(local.user("demo"))
    service = sessions.connection(local.user("stoker"))
    project = demo.session.get_project_id()
    wanted = {
        "trustor_user_id": demo.session.get_user_id(),
        "trustee_user_id": service.session.get_user_id(),
        "project_id": project,
        "impersonation": True,
        "roles": [{"name": "member"}],
    }
    trusts = Collection("identity", "/OS-TRUST/trusts", "trust", "trusts")
    acting = sessions.connection(Trust(trusts.create(demo, wanted)["id"]))
    assert acting.session.get_project_id() == project
    assert acting.session.get_user_id() == demo.session.get_user_id()
    # a token of a trust cannot be exchanged for another one
    assert NETWORKS.select(sessions.connection(Token(acting.session.get_token())))
    assert NETWORKS.create(acting, {"name": "by trust"})["project_id"] == project


def test_connection_is_kept_while_in_use(
    local: LocalCloud, sessions: Sessions, clock: ManualClock
) -> None:
    user = local.user("demo")
    kept = sessions.connection(user)
    for _ in range(2):
        clock.time += 1700
        assert sessions.connection(user) is kept
    clock.time += 1900
    assert sessions.connection(user) is not kept


def test_wrong_password_is_reported_in_words(local: LocalCloud, sessions: Sessions) -> None:
    cloud = sessions.connection(replace(local.user("demo"), password="wrong"))
    with pytest.raises(Exception, match="401") as caught:
        NETWORKS.select(cloud)
    assert "HTTP 401" in describe(caught.value)


def test_a_refusal_carries_status_words_and_request_id(
    local: LocalCloud, sessions: Sessions
) -> None:
    cloud = sessions.connection(local.user("demo"))
    with pytest.raises(CloudError) as caught:
        SERVERS.get(cloud, "00000000-0000-0000-0000-000000000000")
    assert caught.value.status_code == 404
    assert caught.value.request_id
    admin = sessions.connection(local.user("admin"))
    assert {"demo", "admin"} <= {project["name"] for project in PROJECTS.select(admin)}


def test_no_secret_is_in_the_text_of_credentials(local: LocalCloud) -> None:
    user = local.user("demo")
    assert user.password not in repr(user)
    assert "hidden" not in repr(Token("hidden"))
