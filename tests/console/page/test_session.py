"""Sign-in, expiry, other sites, hostile content, and a service that restarts under the page."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from playwright.sync_api import Dialog, expect

from tests.console.conftest import MARK
from tests.console.page.conftest import ASSETS, NewUser, Stacks, User
from tests.console.page.templates import GROUP, template, thing
from tests.recovery.service import Service

MOST_BYTES = 400 * 1024


def test_wrong_password_is_answered_in_words(user: User) -> None:
    user.open()
    user.page.get_by_label("User name").fill("demo")
    user.page.get_by_label("Password", exact=True).fill("wrong")
    user.page.get_by_role("button", name="Sign in").click()
    expect(user.page.get_by_role("alert")).to_be_visible()


def test_token_is_nowhere_where_scripts_read(user: User, service: Service) -> None:
    requests: list[str] = []
    user.page.on("request", lambda request: requests.append(request.url))
    user.enter()
    expect(user.page.get_by_role("heading", name="Stacks", exact=True)).to_be_visible()
    stored = user.page.evaluate(
        "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])"
    )
    token, _ = service.authenticate()
    secrets = [token, service.credentials("stoker")["password"], "gAAAA"]
    assert [
        each for each in secrets if each in stored or any(each in url for url in requests)
    ] == []
    assert "gAAAA" not in service.log()


def test_sign_out_ends_session(user: User) -> None:
    user.enter()
    expect(user.page.get_by_role("heading", name="Stacks", exact=True)).to_be_visible()
    user.open("/nothing")
    user.page.get_by_role("button", name="demo").click()
    user.page.get_by_role("button", name="Sign out").click()
    expect(user.page.get_by_role("button", name="Sign in")).to_be_visible()
    user.page.go_back()
    expect(user.page.get_by_role("button", name="Sign in")).to_be_visible()


def test_expired_session_returns_to_same_page(user: User, stacks: Stacks) -> None:
    path = stacks.create("waiting", GROUP)
    user.enter(f"{path}/resources")
    expect(user.page.get_by_text("3 resources")).to_be_visible()
    user.page.context.clear_cookies()
    user.view("Outputs")
    expect(user.page.get_by_text("Your session has expired")).to_be_visible()
    user.sign_in()
    expect(user.page.get_by_role("navigation", name="Views of the stack")).to_be_visible()
    assert f"{path}/outputs" in user.page.url


def test_expiry_keeps_entered_work(user: User) -> None:
    user.enter("/stacks/new")
    user.page.get_by_label("Name of the stack").fill("half-done")
    user.page.context.clear_cookies()
    # Validation in the background may notice first, and hide the form.
    user.page.evaluate("document.querySelector('.launch form').requestSubmit()")
    expect(user.page.get_by_text("Your session has expired")).to_be_visible()
    user.sign_in()
    expect(user.page.get_by_label("Name of the stack")).to_have_value("half-done")


def test_page_survives_restart_of_service(user: User, service: Service, stacks: Stacks) -> None:
    path = stacks.create("restarted", GROUP)
    user.enter(f"{path}/resources")
    expect(user.page.get_by_text("3 resources")).to_be_visible()
    service.kill()
    expect(user.page.get_by_text("The service does not answer")).to_be_visible()
    service.start()
    stacks.update(path, GROUP, parameters={"size": 4})
    expect(user.page.get_by_text("5 resources")).to_be_visible()
    expect(user.page.get_by_text("The service does not answer")).to_be_hidden()
    user.view("Events")
    expect(user.row("UPDATE_COMPLETE").first).to_be_visible()


HOSTILE = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>'


def test_hostile_texts_have_no_effect(user: User, stacks: Stacks) -> None:
    text = f"{HOSTILE}\u202egnp.exe\u0007{'x' * 20_000}"
    document = {
        **template(**{"<img src=x onerror=alert(1)>": thing(text), "javascript:alert(1)": thing()}),
        "description": text,
        "outputs": {
            "markup": {"value": text, "description": HOSTILE},
            "link": {"value": "javascript:window.hit=1"},
            "quoted": {"value": 'https://example.org/"onmouseover="window.hit=1'},
        },
    }
    path = stacks.create("hostile", document, tags=HOSTILE[:60])
    user.enter(path)
    user.expect_status("CREATE_COMPLETE")
    page = user.page
    for view in ("Timeline", "Resources", "Events", "Outputs", "Parameters", "Template"):
        user.view(view)
        expect(page.get_by_role("region", name=view)).to_be_visible()
        assert page.evaluate("window.hit") is None
        assert page.locator("main img:not(.cm-widgetBuffer), main script, main b").count() == 0
    user.view("Outputs")
    expect(page.get_by_text("\\u202egnp.exe\\u0007").first).to_be_visible()
    assert page.locator("a[href^='javascript']").count() == 0
    width = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert width <= 0, "a text makes the page wider than the window"
    user.open("/stacks")
    expect(user.row("hostile")).to_be_visible()
    assert page.evaluate("window.hit") is None


@pytest.fixture
def other_site() -> Iterator[str]:
    """A page of another origin on the same host, whose cookies are those of the console."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>other</title><body>")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


ATTACK = """async ([url, project]) => {
    const found = [];
    const send = async (init) => {
        try {
            const answer = await fetch(url, {credentials: "include", ...init});
            found.push([answer.type, answer.status, (await answer.text()).slice(0, 50)]);
        } catch (error) { found.push(["blocked", 0, ""]); }
    };
    await send({});
    await send({method: "POST", mode: "no-cors", body: "{}"});
    await send({method: "POST", headers: {"X-Stoker-Console": "1"}, body: "{}"});
    await send({method: "DELETE", headers: {"X-Stoker-Console": "1"}});
    const form = document.createElement("form");
    form.method = "POST"; form.action = url; form.enctype = "text/plain"; form.target = "frame";
    form.innerHTML = '<input name="x" value="y">';
    document.body.innerHTML = '<iframe name="frame"></iframe>';
    document.body.append(form); form.submit();
    await new Promise((resolve) => setTimeout(resolve, 500));
    return found;
}"""


def test_other_site_cannot_act(
    new_user: NewUser, service: Service, stacks: Stacks, other_site: str
) -> None:
    stacks.create("target", template(a=thing()))
    user = new_user()
    user.enter()
    _, project = service.authenticate()
    before = len(service.get("/stacks")["stacks"])
    evil = user.page.context.new_page()
    evil.goto(other_site)
    for path in ("/session", f"/api/v1/{project}/stacks", "/tickets"):
        found = evil.evaluate(ATTACK, [user.url + path, project])
        assert [each for each in found if each[0] not in ("blocked", "opaque")] == []
    assert len(service.get("/stacks")["stacks"]) == before
    user.open("/stacks")
    expect(user.row("target")).to_be_visible()  # still signed in


def test_one_time_link_opens_page_once(new_user: NewUser, service: Service) -> None:
    token, _ = service.authenticate()
    made = httpx.post(f"{service.url}/console/tickets", headers={"X-Auth-Token": token, **MARK})
    assert made.status_code == 201
    first, second = new_user(), new_user()
    first.page.goto(made.json()["url"])
    expect(first.page.get_by_role("heading", name="Stacks", exact=True)).to_be_visible()
    assert "ticket" not in first.page.url
    second.page.goto(made.json()["url"])
    expect(second.page.get_by_role("alert")).to_contain_text("one-time link")


def test_assets_are_small() -> None:
    if not (ASSETS / "index.html").exists():
        pytest.skip("the page of the console is not built: python tools/console.py says why")
    files = [file for file in ASSETS.rglob("*") if file.suffix in (".js", ".css", ".html", ".svg")]
    assert len(files) > 3
    assert sum(len(gzip.compress(file.read_bytes())) for file in files) < MOST_BYTES


def test_link_asks_before_it_replaces_session(new_user: NewUser, service: Service) -> None:
    token, _ = service.authenticate("stoker-admin")
    made = httpx.post(
        f"{service.url}/console/tickets", headers={"X-Auth-Token": token, **MARK}
    ).json()
    user = new_user()
    user.enter()
    questions: list[str] = []

    def refuse(dialog: Dialog) -> None:
        questions.append(dialog.message)
        dialog.dismiss()

    user.page.on("dialog", refuse)
    user.page.goto("about:blank")
    user.page.goto(made["url"])
    expect(user.page.get_by_role("button", name="demo")).to_be_visible()
    assert len(questions) == 1
    assert "demo" in questions[0]
