"""Sign-in, sign-out and the API behind a session, at a real service with its local cloud."""

from __future__ import annotations

import json
import socket
from datetime import datetime

import httpx
import pytest

from stoker.api.console.app import HEADERS
from tests.console.conftest import MARK, Browser, OpenBrowser
from tests.recovery.service import Service


def test_password_opens_session_of_default_project(browser: Browser, service: Service) -> None:
    answer = browser.sign_in()
    assert answer.status_code == 200
    found = answer.json()
    _, project_id = service.authenticate()
    assert found["project"]["id"] == project_id
    assert found["user"]["name"] == service.credentials("stoker")["username"]
    assert project_id in [each["id"] for each in found["projects"]]
    assert "member" in found["roles"]
    assert found["is_admin"] is False
    assert datetime.fromisoformat(found["expires_at"]).tzinfo is not None
    assert found["links"] == {"horizon": "https://cloud.example/horizon", "skyline": None}
    assert [each["url"] for each in found["regions"] if each["is_current"]] == [
        f"{service.url}/console/"
    ]
    assert browser.ask("GET", "/session").json() == found


def test_cookie_is_hidden_from_scripts_and_sites(browser: Browser, service: Service) -> None:
    cookie = browser.sign_in().headers["set-cookie"]
    assert {"httponly", "samesite=strict", "path=/console"} <= {
        part.strip().lower() for part in cookie.split(";")
    }
    assert "secure" not in cookie.lower()
    assert "; secure" in browser.sign_in_behind("https").headers["set-cookie"].lower()
    token, _ = service.authenticate()
    assert token not in cookie


@pytest.mark.parametrize(
    "body",
    [
        {"user": "demo", "password": "wrong"},
        {"user": "nobody", "password": "x"},
        {"application_credential_id": "0" * 32, "secret": "x"},
        {"token": "nonsense"},
        {"token": "line\r\nbreak"},
        {"ticket": "nonsense"},
        {"ticket": "00000000." + "A" * 60},
    ],
)
def test_wrong_credentials_are_refused(browser: Browser, body: dict[str, str]) -> None:
    answer = browser.ask("POST", "/session", body)
    assert answer.status_code == 401
    assert answer.json()["error"]["message"]
    assert not browser.client.cookies


@pytest.mark.parametrize(
    "body", [[], {}, {"user": "demo"}, {"user": 1, "password": "x"}, {"token": "x", "more": "x"}]
)
def test_bodies_of_other_shapes_are_malformed(browser: Browser, body: object) -> None:
    assert browser.ask("POST", "/session", body).status_code == 400


def test_large_body_is_refused(browser: Browser) -> None:
    answer = browser.ask("POST", "/session", {"user": "x" * 100_000, "password": "x"})
    assert answer.status_code == 400


def test_project_is_chosen_and_switched(
    browser: Browser, service: Service, open_browser: OpenBrowser
) -> None:
    admin = browser.sign_in("stoker-admin").json()
    assert admin["is_admin"] is True
    other = new_project(service, admin["user"]["id"], "second")
    chosen = open_browser(service).sign_in("stoker-admin", project="second").json()
    assert (chosen["project"]["id"], chosen["is_admin"]) == (other, True)
    by_id = open_browser(service).sign_in("stoker-admin", project=other).json()
    assert by_id["project"]["id"] == other
    answer = browser.ask("POST", "/session/project", {"project_id": other})
    assert answer.json()["project"]["id"] == other
    assert browser.ask("GET", "/session").json()["project"]["id"] == other


def new_project(service: Service, user_id: str, name: str) -> str:
    """Make a project in which a user is an administrator; return its id."""
    token, _ = service.authenticate("stoker-admin")
    keystone = httpx.Client(
        base_url=service.credentials("stoker-admin")["auth_url"], headers={"X-Auth-Token": token}
    )
    with keystone:
        made = keystone.post("/projects", json={"project": {"name": name}}).json()["project"]
        [role] = keystone.get("/roles", params={"name": "admin"}).json()["roles"]
        path = f"/projects/{made['id']}/users/{user_id}/roles/{role['id']}"
        assert keystone.put(path).status_code == 204
    return str(made["id"])


def test_project_of_others_is_refused(browser: Browser) -> None:
    assert browser.sign_in(project="service").status_code == 401
    browser.sign_in()
    answer = browser.ask("POST", "/session/project", {"project_id": "0" * 32})
    assert answer.status_code == 403
    assert browser.ask("GET", "/session").status_code == 200


def test_token_and_credential_open_sessions(
    browser: Browser, service: Service, open_browser: OpenBrowser
) -> None:
    token, project_id = service.authenticate()
    assert browser.ask("POST", "/session", {"token": token}).json()["project"]["id"] == project_id
    user_id = browser.ask("GET", "/session").json()["user"]["id"]
    made = httpx.post(
        f"{service.credentials('stoker')['auth_url']}/users/{user_id}/application_credentials",
        json={"application_credential": {"name": "console"}},
        headers={"X-Auth-Token": token},
    ).json()["application_credential"]
    body = {"application_credential_id": made["id"], "secret": made["secret"]}
    assert open_browser(service).ask("POST", "/session", body).json()["project"]["id"] == project_id


def test_sign_out_revokes_token_and_clears_cookie(browser: Browser, service: Service) -> None:
    project_id = browser.sign_in().json()["project"]["id"]
    cookie = browser.cookie
    path = f"/api/v1/{project_id}/stacks"
    assert browser.ask("GET", path).status_code == 200
    assert browser.ask("DELETE", "/session").status_code == 204
    assert not browser.client.cookies
    copied = {"Cookie": f"stoker_console={cookie}"}
    assert browser.ask("GET", path, **copied).status_code == 401
    assert browser.ask("GET", "/session", **copied).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {**MARK, "Origin": "https://evil.example"},
        {**MARK, "Origin": "null"},
        {**MARK, "Sec-Fetch-Site": "cross-site"},
        {**MARK, "Sec-Fetch-Site": "same-site"},
        {"X-Stoker-Console": "0"},
    ],
)
def test_requests_of_other_sites_are_refused(browser: Browser, headers: dict[str, str]) -> None:
    project_id = browser.sign_in().json()["project"]["id"]
    for method, path in [
        ("GET", "/session"),
        ("DELETE", "/session"),
        ("POST", "/session/project"),
        ("POST", "/tickets"),
        ("GET", f"/api/v1/{project_id}/stacks"),
        ("POST", f"/api/v1/{project_id}/stacks"),
        ("OPTIONS", f"/api/v1/{project_id}/stacks"),
    ]:
        answer = browser.client.request(method, path, headers=headers)
        assert answer.status_code == 403, (method, path)
        assert "access-control-allow-origin" not in answer.headers
    assert browser.ask("GET", "/session", Origin=browser.service.url).status_code == 200


def test_cookie_is_refused_outside_console(browser: Browser, service: Service) -> None:
    project_id = browser.sign_in().json()["project"]["id"]
    headers = {**MARK, "Cookie": f"stoker_console={browser.cookie}"}
    for path in (f"/v1/{project_id}/stacks", f"/console/../v1/{project_id}/stacks"):
        assert httpx.get(f"{service.url}{path}", headers=headers).status_code == 401


def test_changed_cookie_is_refused(browser: Browser) -> None:
    browser.sign_in()
    cookie = browser.cookie
    browser.client.cookies.clear()
    other = "A" if cookie[-10] != "A" else "B"
    ticket = browser.ask("POST", "/tickets", X_Auth_Token=browser.service.authenticate()[0])
    for text in (
        f"{cookie[:-10]}{other}{cookie[-9:]}",
        cookie[:-1],
        cookie.partition(".")[2],
        "x" * 10_000,
        "ünïcode",
        ticket.json()["url"].partition("#ticket=")[2],
    ):
        sent = httpx.get(
            f"{browser.service.url}/console/session",
            headers=[(b"x-stoker-console", b"1"), (b"cookie", f"stoker_console={text}".encode())],
        )
        assert sent.status_code == 401


def test_api_ignores_credentials_of_clients(browser: Browser, service: Service) -> None:
    project_id = browser.sign_in().json()["project"]["id"]
    admin, admin_project = service.authenticate("stoker-admin")
    path = f"/api/v1/{admin_project}/stacks"
    assert browser.ask("GET", path, X_Auth_Token=admin).status_code == 403
    browser.client.cookies.clear()
    assert browser.ask("GET", path, X_Auth_Token=admin).status_code == 401
    assert browser.ask("GET", f"/api/v1/{project_id}/stacks").status_code == 401


def test_api_creates_and_redirects_below_console(browser: Browser) -> None:
    project_id = browser.sign_in().json()["project"]["id"]
    template = {
        "heat_template_version": "2021-04-16",
        "resources": {"r": {"type": "OS::Heat::Value", "properties": {"value": 1}}},
    }
    body = {"stack_name": "behind-console", "template": template}
    made = browser.ask("POST", f"/api/v1/{project_id}/stacks", body)
    assert made.status_code == 201, made.text
    stack_id = made.json()["stack"]["id"]
    found = browser.ask("GET", f"/api/v1/{project_id}/stacks/behind-console")
    assert found.status_code == 302
    assert found.headers["location"].startswith(
        f"{browser.service.url}/console/api/v1/{project_id}/stacks/behind-console/{stack_id}"
    )
    path = f"/console/api/v1/{project_id}/stacks/behind-console/{stack_id}/events?until_end=true"
    headers = {**MARK, "Accept": "text/event-stream"}
    with browser.client.stream("GET", f"{browser.service.url}{path}", headers=headers) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        text = "".join(stream.iter_text())
    assert "CREATE_COMPLETE" in text
    assert stream.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]


def test_ticket_opens_one_session(
    browser: Browser, service: Service, open_browser: OpenBrowser
) -> None:
    token, project_id = service.authenticate()
    made = browser.ask("POST", "/tickets", X_Auth_Token=token)
    assert made.status_code == 201
    url = made.json()["url"]
    assert url.startswith(f"{service.url}/console/#ticket=")
    ticket = url.partition("#ticket=")[2]
    assert token not in url
    first = browser.ask("POST", "/session", {"ticket": ticket})
    assert first.json()["project"]["id"] == project_id
    assert open_browser(service).ask("POST", "/session", {"ticket": ticket}).status_code == 401
    assert ticket not in service.log()
    assert token not in service.log()


def test_ticket_needs_token_instead_of_cookie(browser: Browser) -> None:
    browser.sign_in()
    assert browser.ask("POST", "/tickets").status_code == 401
    assert browser.ask("POST", "/tickets", X_Auth_Token="nonsense").status_code == 401


def test_every_answer_has_headers_of_protection(browser: Browser) -> None:
    project_id = browser.sign_in().json()["project"]["id"]
    for method, path in [
        ("GET", "/"),
        ("HEAD", "/"),
        ("GET", "/stacks/a/b"),
        ("GET", "/assets/missing.js"),
        ("POST", "/"),
        ("GET", "/session"),
        ("PUT", "/session"),
        ("POST", "/session"),
        ("GET", f"/api/v1/{project_id}/stacks"),
        ("GET", f"/api/v1/{project_id}/missing"),
        ("GET", "/api/"),
        ("GET", "/line%0abreak"),
        ("GET", "/..%2f..%2fetc/passwd"),
        ("GET", "/assets/..%2f..%2fapp.py"),
    ]:
        answer = browser.ask(method, path)
        got = {name: answer.headers.get(name) for name in HEADERS}
        assert got == dict(HEADERS), (method, path)
        assert "class Console" not in answer.text


def test_session_survives_restart_of_service(
    tmp_path_factory: pytest.TempPathFactory, open_browser: OpenBrowser
) -> None:
    service = Service(tmp_path_factory.mktemp("restart") / "data")
    service.start()
    try:
        browser = open_browser(service)
        document = browser.sign_in().json()
        service.stop()
        service.start()
        assert browser.ask("GET", "/session").json() == document
    finally:
        service.stop()


def test_only_wrong_passwords_lock_address(
    tmp_path_factory: pytest.TempPathFactory, open_browser: OpenBrowser
) -> None:
    service = Service(tmp_path_factory.mktemp("limit") / "data")
    service.start()
    try:
        browser = open_browser(service)
        for body in ({"token": "nonsense"}, {"ticket": "nonsense"}):
            codes = {browser.ask("POST", "/session", body).status_code for _ in range(25)}
            assert codes == {401}
        assert browser.ask("POST", "/tickets", X_Auth_Token="nonsense").status_code == 401
        assert browser.sign_in().status_code == 200
        wrong = {"user": "demo", "password": "wrong"}
        codes = [browser.ask("POST", "/session", wrong) for _ in range(25)]
        assert codes[0].status_code == 401
        assert codes[-1].status_code == 429
        assert codes[-1].headers["retry-after"] == "6"
        assert browser.sign_in().status_code == 429
        credential = {"application_credential_id": "0" * 32, "secret": "x"}
        assert browser.ask("POST", "/session", credential).status_code == 429
        token, _ = service.authenticate()
        assert browser.ask("POST", "/session", {"token": token}).status_code == 200
    finally:
        service.stop()


def test_request_for_replaced_session_does_nothing(browser: Browser, service: Service) -> None:
    first = browser.sign_in().json()
    project_id = first["project"]["id"]
    path = f"/api/v1/{project_id}/stacks"
    assert browser.ask("GET", path, X_Stoker_Session=first["id"]).status_code == 200
    second = browser.sign_in("stoker-admin").json()
    assert second["id"] != first["id"]
    body = {"stack_name": "of-other-tab", "template": {"heat_template_version": "2021-04-16"}}
    for method, address, sent in [
        ("GET", path, None),
        ("POST", path, body),
        ("POST", "/session", {"user": "demo", "password": "wrong"}),
        ("POST", "/session/project", {"project_id": project_id}),
        ("DELETE", "/session", None),
    ]:
        answer = browser.ask(method, address, sent, X_Stoker_Session=first["id"])
        assert answer.status_code == 409, (method, address)
        assert answer.json()["error"]["type"] == "SessionChanged"
        assert "another tab" in answer.json()["error"]["message"]
        assert answer.headers["x-stoker-session"] == "changed"
        assert "set-cookie" not in answer.headers
    assert browser.ask("GET", "/session", X_Stoker_Session=first["id"]).json() == second
    assert not [
        each
        for each in service.get("/stacks")["stacks"]
        if each["stack_name"] == body["stack_name"]
    ]
    foreign = browser.ask("GET", path, X_Stoker_Session=first["id"], Origin="http://evil.example")
    assert foreign.status_code == 403


def test_choice_of_project_changes_session_id(browser: Browser) -> None:
    first = browser.sign_in().json()
    answer = browser.ask(
        "POST",
        "/session/project",
        {"project_id": first["project"]["id"]},
        X_Stoker_Session=first["id"],
    )
    second = answer.json()
    assert second["id"] != first["id"]
    path = f"/api/v1/{first['project']['id']}/stacks"
    assert browser.ask("GET", path, X_Stoker_Session=first["id"]).status_code == 409
    assert browser.ask("GET", path, X_Stoker_Session=second["id"]).status_code == 200
    assert browser.ask("GET", path).status_code == 200
    copied = {"Cookie": f"stoker_console={second['id']}"}
    browser.client.cookies.clear()
    assert browser.ask("GET", path, **copied).status_code == 401
    assert browser.ask("GET", path, X_Stoker_Session=second["id"]).status_code == 401
    assert browser.sign_in().status_code == 200


def test_line_break_in_cookie_is_no_second_header(service: Service) -> None:
    with socket.create_connection(("127.0.0.1", service.port), 10) as raw:
        raw.sendall(
            b"GET /console/session HTTP/1.1\r\nHost: x\r\nX-Stoker-Console: 1\r\n"
            b"Cookie: stoker_console=a%0d%0aSet-Cookie:%20b=c\r\nConnection: close\r\n\r\n"
        )
        answer = b""
        while piece := raw.recv(65536):
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b" 401 " in head.splitlines()[0]
    assert b"b=c" not in head
    assert json.loads(body)["error"]["message"]
