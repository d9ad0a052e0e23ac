"""Sessions of every kind into a local cloud, through the real libraries."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from keystoneauth1.adapter import Adapter
from requests.adapters import HTTPAdapter
from tests.clouds.local_cloud import LocalCloud, running_cloud

from stoker.clouds.credentials import (
    Endpoints,
    ServiceAccess,
    Token,
    Trust,
    UserPassword,
)
from stoker.clouds.faults import (
    CloudError,
    describe,
    is_cloud_fault,
    is_unauthorized,
    lands_within,
    retry_after,
)
from stoker.clouds.objects.collection import Collection
from stoker.clouds.objects.collections import IMAGES, NETWORKS, PROJECTS, SERVERS
from stoker.clouds.sessions import Sessions
from stoker.clouds.transport import ChangingSession
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
    made = cloud.service("network").request("/networks", "POST", json=body, auth=known)
    assert (
        made.json()["network"]["project_id"] == known.project_id != cloud.session.get_project_id()
    )
    with pytest.raises(Exception, match="401") as caught:
        cloud.service("network").request("/networks", "GET", auth=replace(known, password="wrong"))
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
            cloud.service(service).request("/", "GET")
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


def test_proxies_of_the_system_depend_on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "inside.example")
    session = ChangingSession(lambda: None)
    for _ in range(2):
        for host, proxy in (("outside", "http://proxy.example:3128"), ("inside", None)):
            url = f"https://{host}.example/v3/servers"
            found = session.merge_environment_settings(url, {}, None, "/ca.pem", None)
            assert found["proxies"].get("https") == proxy
            assert found["verify"] == "/ca.pem"
            found["proxies"].clear()
    assert not session.merge_environment_settings(url, {}, None, False, None)["verify"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_plugin_uses_openstacksdk_with_same_session(local: LocalCloud, sessions: Sessions) -> None:
    cloud = sessions.connection(local.user("demo"))
    assert "public" in {network.name for network in cloud.network.networks()}
    assert cloud.compute.session is cloud.session
    assert cloud.current_project_id == cloud.project_id
    for name in ("block_storage", "compute", "dns", "identity", "image", "network", "workflow"):
        sent_to = cloud.service(name.replace("_", "-")).get_endpoint().rstrip("/")
        assert sent_to == Adapter.get_endpoint(getattr(cloud, name)).rstrip("/")


def test_calls_of_own_types_do_not_import_openstacksdk(local: LocalCloud) -> None:
    user = local.user("demo")
    program = f"""
import sys
from stoker.clouds.credentials import Endpoints, Password
from stoker.clouds.objects.collections import NETWORKS
from stoker.clouds.sessions import Sessions
from stoker.kernel.clock import SystemClock

endpoints = Endpoints({local.credentials["auth_url"]!r})
sessions = Sessions(endpoints, SystemClock(), lambda *_: None)
user = Password("demo", {user.password!r}, user_domain_id={user.user_domain_id!r},
                project_name={user.project_name!r})
assert NETWORKS.select(sessions.connection(user))
print("openstack" in sys.modules)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout.strip() == "False", ran.stderr


def test_service_without_version_discovery_is_temporarily_unavailable(
    local: LocalCloud, clock: ManualClock
) -> None:
    class Restarting(HTTPAdapter):
        is_ready = False

        def send(self, request: Any, **options: Any) -> Any:
            answer = super().send(request, **options)
            if request.url.rstrip("/").endswith("/image") and not self.is_ready:
                answer.status_code = 503
            return answer

    transport = Restarting()
    endpoints = Endpoints(local.credentials["auth_url"], region=local.credentials["region"])
    sessions = Sessions(endpoints, clock, lambda *_: None, transport)
    cloud = sessions.connection(local.user("demo"))
    with pytest.raises(CloudError, match="image service") as caught:
        IMAGES.select(cloud)
    assert retry_after(caught.value, attempt=100) is not None
    assert not lands_within(caught.value)
    transport.is_ready = True
    assert IMAGES.select(cloud)
    sessions.close()


def test_no_secret_is_in_the_text_of_credentials(local: LocalCloud) -> None:
    user = local.user("demo")
    assert user.password not in repr(user)
    assert "hidden" not in repr(Token("hidden"))
