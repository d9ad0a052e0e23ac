"""Sessions of every kind into a local cloud, through the real SDK."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.clouds.local_cloud import LocalCloud, running_cloud

from stoker.clouds.collection import Collection
from stoker.clouds.collections import NETWORKS, PROJECTS, SERVERS
from stoker.clouds.credentials import ApplicationCredential, Endpoints, Token, Trust
from stoker.clouds.faults import CloudFault, describe
from stoker.clouds.sessions import Sessions


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


def test_a_token_acts_with_and_without_its_body(local: LocalCloud, sessions: Sessions) -> None:
    demo = sessions.connection(local.user("demo"))
    token, project = demo.session.get_token(), demo.session.get_project_id()
    exchanged = sessions.connection(Token(token, project))
    assert NETWORKS.select(exchanged)
    body = {"token": demo.session.auth.get_access(demo.session)._data["token"]}
    known = sessions.connection(Token(token, project, expires_at=5000.0, body=body))
    assert known.session.get_token() == token
    assert NETWORKS.select(known)


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
    assert NETWORKS.create(acting, {"name": "by trust"})["project_id"] == project


def test_an_application_credential_acts(local: LocalCloud, sessions: Sessions) -> None:
    demo = sessions.connection(local.user("demo"))
    path = f"/users/{demo.session.get_user_id()}/application_credentials"
    mine = Collection("identity", path, "application_credential", "application_credentials")
    made = mine.create(demo, {"name": "robot"})
    acting = sessions.connection(ApplicationCredential(made["id"], made["secret"]))
    assert acting.session.get_project_id() == demo.session.get_project_id()


def test_a_connection_is_kept_until_shortly_before_its_token_expires(
    local: LocalCloud, sessions: Sessions, clock: ManualClock
) -> None:
    credentials = Token("secret", "project", expires_at=1500.0)
    first = sessions.connection(credentials)
    assert sessions.connection(credentials) is first
    clock.time = 1450.0
    assert sessions.connection(credentials) is not first
    user = local.user("demo")
    kept = sessions.connection(user)
    clock.time += 1700
    assert sessions.connection(user) is kept


def test_a_wrong_password_is_told_in_words(local: LocalCloud, sessions: Sessions) -> None:
    cloud = sessions.connection(replace(local.user("demo"), password="wrong"))
    with pytest.raises(Exception, match="401") as caught:
        NETWORKS.select(cloud)
    assert "HTTP 401" in describe(caught.value)


def test_a_refusal_carries_status_words_and_request_id(
    local: LocalCloud, sessions: Sessions
) -> None:
    cloud = sessions.connection(local.user("demo"))
    with pytest.raises(CloudFault) as caught:
        SERVERS.get(cloud, "00000000-0000-0000-0000-000000000000")
    assert caught.value.status_code == 404
    assert caught.value.request_id
    admin = sessions.connection(local.user("admin"))
    assert {"demo", "admin"} <= {project["name"] for project in PROJECTS.select(admin)}


def test_no_secret_is_in_the_text_of_credentials(local: LocalCloud) -> None:
    user = local.user("demo")
    assert user.password not in repr(user)
    assert "hidden" not in repr(Token("hidden"))
