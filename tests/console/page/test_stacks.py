"""Everyday work with stacks: create, watch, find a failure, plan, update, scale, delete."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
from playwright.sync_api import expect

from tests.console.page.conftest import ROOT, NewUser, Stacks, User
from tests.console.page.templates import FAILING, GROUP, template, thing

EXAMPLES = ROOT / "examples"


def test_example_is_created_from_folder(user: User, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    (folder / "lib").mkdir(parents=True)
    head = "heat_template_version: 2021-04-16\n"
    member = "resources:\n  word: {type: OS::Heat::RandomString}\n"
    outputs = "outputs:\n  text: {value: {get_file: note.txt}}\n"
    (folder / "lib/word.yaml").write_text(head + member + outputs)
    (folder / "lib/note.txt").write_text("a note")
    (folder / "app.yaml").write_text(
        f"{head}parameters:\n  title: {{type: string, label: Title of the page}}\n"
        "resources:\n  child: {type: lib/word.yaml}\n"
        "outputs:\n  note: {value: {get_attr: [child, text]}}\n"
        "  title: {value: {get_param: title}}\n"
    )
    (folder / "app.env.yaml").write_text("parameters: {title: from the environment}\n")
    user.enter("/stacks/new")
    page = user.page
    page.locator("input[type=file]").nth(1).set_input_files(folder)
    expect(page.get_by_label("Name of the stack")).to_have_value("app")
    expect(page.get_by_label("app.env.yaml")).to_be_checked()
    page.get_by_label("Name of the stack").fill("from-folder")
    expect(page.get_by_label("Title of the page")).to_be_visible()
    page.get_by_role("button", name="Plan", exact=True).click()
    expect(page.get_by_text("child / word")).to_be_visible()
    page.evaluate("window.isSamePage = true")
    page.get_by_role("button", name="Create exactly this").click()
    user.expect_status("CREATE_COMPLETE")
    user.view("Outputs")
    expect(page.get_by_text("a note")).to_be_visible()
    expect(page.get_by_text("from the environment")).to_be_visible()
    assert page.evaluate("window.isSamePage"), "the page was loaded again"


def test_real_server_of_example_is_watched(user: User) -> None:
    user.enter("/stacks/new")
    page = user.page
    files = [EXAMPLES / "web-app.yaml", *(EXAMPLES / "web-app").iterdir()]
    user.page.locator("input[type=file]").nth(0).set_input_files(files[:1])
    # Files that were chosen one by one have no folder: the template says what is missing.
    expect(page.get_by_text("web-app/setup.sh, which is not among")).to_be_visible()
    expect(page.locator("#parameter-flavor-choices option[value='m1.small']")).to_have_count(1)
    expect(page.locator("#parameter-image-choices option[value='host']")).to_have_count(1)


def test_failure_leads_to_its_cause_and_line(user: User, stacks: Stacks) -> None:
    user.enter(stacks.create("failing", FAILING))
    page = user.page
    user.expect_status("CREATE_FAILED")
    cause = page.get_by_role("region", name="Likely root cause")
    expect(cause).to_contain_text("broken")
    cause.get_by_role("link", name=re.compile("line 7")).click()
    # The text is the user's, with comments, and the line of the resource is marked.
    expect(page.locator(".cm-activeLine").first).to_contain_text("broken:  # this one")
    user.view("Graph")
    page.get_by_role("button", name="Go to the failure").click()
    panel = page.get_by_role("complementary", name="Resource broken")
    expect(panel).to_contain_text("CREATE_FAILED")
    expect(panel.get_by_role("link", name="line 7").first).to_be_visible()


def test_replacement_is_planned_and_executed(user: User, stacks: Stacks) -> None:
    path = stacks.create("planned", template(a=thing("one"), b=thing("two", depends_on=["a"])))
    user.enter(path)
    page = user.page
    user.expect_status("CREATE_COMPLETE")
    page.get_by_role("link", name="Update", exact=True).click()
    editor = page.locator(".cm-content")
    expect(editor).to_contain_text("heat_template_version")
    editor.click()
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    changed = template(
        a={"type": "OS::Heat::RandomString", "properties": {"length": 9}},
        b=thing("three", depends_on=["a"]),
    )
    page.keyboard.insert_text(json.dumps(changed))
    page.get_by_role("button", name="Plan", exact=True).click()
    expect(page.locator("li .change.replaced")).to_contain_text("a")
    expect(page.locator("li .change.updated")).to_contain_text("b")
    page.get_by_role("button", name="Graph").click()
    expect(page.get_by_role("application", name="Graph of")).to_be_visible()
    page.get_by_role("button", name="Tree").click()
    page.get_by_role("button", name="Execute this plan").click()
    user.expect_status("UPDATE_COMPLETE")
    expect(page.get_by_role("table", name="Timeline")).to_contain_text("b UPDATE")
    expect(user.page.get_by_label("Operation")).to_contain_text("CREATE")


def test_plan_of_changed_stack_is_refused(new_user: NewUser, stacks: Stacks) -> None:
    path = stacks.create("contested", GROUP)
    first, second = new_user(), new_user()
    first.enter(f"{path}/update")
    first.page.get_by_label("size").fill("3")
    first.page.get_by_role("button", name="Plan", exact=True).click()
    expect(first.page.get_by_text("1 added")).to_be_visible()
    second.enter(f"{path}/update")
    second.page.get_by_label("size").fill("5")
    second.page.get_by_role("button", name="Plan", exact=True).click()
    second.page.get_by_role("button", name="Execute this plan").click()
    second.expect_status("UPDATE_COMPLETE")
    expect(first.page.get_by_role("alert")).to_contain_text("Someone else has changed")
    first.page.get_by_role("button", name="Execute this plan").click()
    expect(first.page.get_by_text("Nothing was executed")).to_be_visible()
    assert stacks.service.get(f"{path}/outputs/size")["output"]["output_value"] == 5


def test_scaling_is_seen_by_everyone(new_user: NewUser, stacks: Stacks) -> None:
    path = stacks.create("scaled", GROUP)
    watching, acting = new_user(), new_user()
    watching.enter(f"{path}/resources")
    expect(watching.page.get_by_text("3 resources")).to_be_visible()
    acting.enter(f"{path}/update")
    acting.page.get_by_label("size").fill("4")
    acting.page.get_by_role("button", name="Plan", exact=True).click()
    acting.page.get_by_role("button", name="Execute this plan").click()
    expect(watching.page.get_by_text("5 resources")).to_be_visible()
    watching.expect_status("UPDATE_COMPLETE")


def test_hook_is_cleared(user: User, stacks: Stacks) -> None:
    hooks = {"resource_registry": {"resources": {"held": {"hooks": "pre-create"}}}}
    path = stacks.create("hooked", template(held=thing()), environment=hooks)
    user.enter(f"{path}/resources")
    expect(user.page.get_by_role("region", name="Waits for")).to_contain_text("held")
    user.row("held").click()
    user.page.get_by_role("button", name="Clear the hook pre-create").click()
    user.page.get_by_role("button", name="Confirm").click()
    user.expect_status("CREATE_COMPLETE")


def test_delete_asks_for_name(user: User, stacks: Stacks) -> None:
    user.enter(stacks.create("unwanted", template(a=thing())))
    page = user.page
    user.expect_status("CREATE_COMPLETE")
    page.get_by_role("button", name="Actions").click()
    page.get_by_role("menuitem", name="Delete").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1 removed")
    confirm = dialog.get_by_role("button", name="Confirm")
    expect(confirm).to_be_disabled()
    dialog.get_by_role("textbox").fill("unwante")
    expect(confirm).to_be_disabled()
    dialog.get_by_role("textbox").fill("unwanted")
    confirm.click()
    expect(page.get_by_text(re.compile("has been deleted|DELETE_COMPLETE")).first).to_be_visible()


def test_suspended_stack_is_resumed(user: User, stacks: Stacks) -> None:
    user.enter(stacks.create("paused", template(a=thing())))
    page = user.page
    user.expect_status("CREATE_COMPLETE")
    for action, status in (("Suspend", "SUSPEND_COMPLETE"), ("Resume", "RESUME_COMPLETE")):
        page.get_by_role("button", name="Actions").click()
        page.get_by_role("menuitem", name=action).click()
        page.get_by_role("button", name="Confirm").click()
        user.expect_status(status)


def test_snapshot_is_taken_and_deleted(user: User, stacks: Stacks) -> None:
    path = stacks.create("kept", template(a=thing()))
    user.enter(f"{path}/snapshots")
    page = user.page
    user.expect_status("CREATE_COMPLETE")
    page.get_by_label("Name of the snapshot").fill("before")
    page.get_by_role("button", name="Take a snapshot").click()
    expect(page.get_by_role("heading", name="before")).to_be_visible()
    expect(page.get_by_role("article")).to_contain_text("SNAPSHOT_COMPLETE")
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("dialog").get_by_role("textbox").fill("kept")
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("There are no snapshots.")).to_be_visible()


def test_search_finds_stacks_and_resources(user: User, stacks: Stacks) -> None:
    path = stacks.create("haystack", template(needle_resource=thing()), tags="straw")
    user.enter("/stacks")
    page = user.page
    box = page.get_by_role("searchbox")
    box.fill("straw")
    expect(page.get_by_role("link", name="haystack")).to_be_visible()
    found = stacks.service.get(f"{path}/resources")["resources"][0]["physical_resource_id"]
    box.fill(found)
    expect(page.get_by_role("region", name="Resources that match")).to_contain_text("needle")


def test_drift_is_shown_and_repaired(user: User, stacks: Stacks) -> None:
    net = {"type": "OS::Neutron::Net", "properties": {"name": "drifting"}}
    path = stacks.create("drifted", template(net=net))
    user.enter(f"{path}/drift")
    page = user.page
    user.expect_status("CREATE_COMPLETE")
    page.get_by_role("button", name="Compare with the cloud").click()
    expect(page.get_by_text("Nothing has been changed outside")).to_be_visible()
    token, _ = stacks.service.authenticate()
    rows = stacks.service.get(f"{path}/resources")["resources"]
    address = f"{stacks.service.cloud_url}/network/v2.0/networks/{rows[0]['physical_resource_id']}"
    renamed = httpx.put(
        address, json={"network": {"name": "other"}}, headers={"X-Auth-Token": token}
    )
    assert renamed.status_code == 200, renamed.text
    page.get_by_role("button", name="Compare with the cloud").click()
    expect(page.get_by_role("article")).to_contain_text("Live: other")
    page.get_by_role("button", name="Repair").click()
    page.get_by_role("button", name="Confirm").click()
    user.expect_status("UPDATE_COMPLETE")


def test_update_keeps_stored_files(user: User, stacks: Stacks) -> None:
    parameters = {
        "kept": {"type": "string"},
        "reset": {"type": "string", "default": "usual"},
        "key": {"type": "string", "default": ""},
        "secret": {"type": "string", "hidden": True},
    }
    document = {
        "heat_template_version": "2021-04-16",
        "parameters": parameters,
        "resources": {"custom": {"type": "My::Thing"}},
        "outputs": {
            "file": {"value": {"get_file": "template.yaml"}},
            "kept": {"value": {"get_param": "kept"}},
            "reset": {"value": {"get_param": "reset"}},
            "key": {"value": {"get_param": "key"}},
        },
    }
    path = stacks.create(
        "stored",
        document,
        files={"template.yaml": "mine\n"},
        environment={"resource_registry": {"My::Thing": "OS::Heat::RandomString"}},
        parameters={"kept": "as it was", "reset": "special", "secret": "hush"},
    )
    user.enter(path)
    user.expect_status("CREATE_COMPLETE")
    page = user.page
    page.get_by_role("link", name="Update", exact=True).click()
    expect(page.get_by_label("secret")).to_be_visible()
    expect(page.get_by_role("region", name="Findings")).to_be_hidden()
    page.get_by_label("Use the default: usual").check()
    page.evaluate(
        """() => {
            const data = new DataTransfer();
            data.setData("text/plain", "-----BEGIN-----\\nabc\\n-----END-----\\n");
            const field = document.querySelector("#parameter-key");
            const options = {clipboardData: data, bubbles: true, cancelable: true};
            field.dispatchEvent(new ClipboardEvent("paste", options));
        }"""
    )
    page.get_by_role("button", name="Plan", exact=True).click()
    page.get_by_role("button", name="Execute this plan").click()
    user.expect_status("UPDATE_COMPLETE")
    found = stacks.service.get(path)["stack"]
    values = {each["output_key"]: each["output_value"] for each in found["outputs"]}
    assert values == {
        "file": "mine\n",
        "kept": "as it was",
        "reset": "usual",
        "key": "-----BEGIN-----\nabc\n-----END-----\n",
    }


def test_delete_waits_for_its_plan(user: User, stacks: Stacks) -> None:
    path = stacks.create("slowly", template(a=thing()))
    user.enter(path)
    user.expect_status("CREATE_COMPLETE")
    page = user.page
    page.route(f"**{path}/preview*", lambda route: None)  # never answered
    page.get_by_role("button", name="Actions").click()
    page.get_by_role("menuitem", name="Delete").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill("slowly")
    expect(dialog.get_by_role("button", name="Confirm")).to_be_disabled()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Actions")).to_be_focused()


def test_views_with_names_of_objects_do_not_exist(user: User, stacks: Stacks) -> None:
    path = stacks.create("plain", template(a=thing()))
    user.enter(f"{path}/constructor")
    expect(user.page.get_by_text("There is nothing at this address.")).to_be_visible()
