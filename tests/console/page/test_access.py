"""The page for everyone: assistive technology, keyboard, themes, languages, small screens."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.console.page.conftest import NewUser, Stacks, User
from tests.console.page.templates import FAILING, GROUP

VIEWS = (
    "Graph", "Timeline", "Resources", "Events", "Outputs", "Parameters", "Template", "Snapshots",
    "Drift", "Deployments",
)  # fmt: skip


# The schemes differ in nothing but colors.
@pytest.mark.parametrize(("scheme", "rules"), [("light", ()), ("dark", ("color-contrast",))])
def test_no_page_has_serious_violations(
    new_user: NewUser, stacks: Stacks, scheme: Any, rules: tuple[str, ...]
) -> None:
    user = new_user(color_scheme=scheme)
    user.rules = rules
    user.open()
    expect(user.page.get_by_role("button", name="Sign in")).to_be_visible()
    found = {"sign-in": user.violations()}
    failing = stacks.create(f"failing-{scheme}", FAILING)
    group = stacks.create(f"group-{scheme}", GROUP)
    user.sign_in("stoker-admin")
    for path in ("/stacks", "/operators", "/stacks/new", "/nothing"):
        user.open(path)
        expect(user.page.locator("main")).to_be_visible()
        found[path] = user.violations()
    user.page.get_by_role("button", name="admin").click()
    found["menu"] = user.violations()
    member = new_user(color_scheme=scheme)
    member.rules = rules
    member.enter(failing)
    member.expect_status("CREATE_FAILED")
    expect(member.page.get_by_role("region", name="Likely root cause")).to_be_visible()
    for view in VIEWS:
        member.view(view)
        expect(member.page.get_by_role("region", name=view)).to_be_visible()
        found[view] = member.violations()
    member.view("Resources")
    member.row("broken").click()
    expect(member.page.get_by_role("complementary")).to_be_visible()
    found["panel"] = member.violations()
    member.page.get_by_role("button", name="Actions").click()
    member.page.get_by_role("menuitem", name="Delete").click()
    expect(member.page.get_by_role("dialog")).to_contain_text("removed")
    found["dialog"] = member.violations()
    member.open(f"{group}/update")
    member.page.get_by_label("size").fill("3")
    found["update"] = member.violations()
    member.page.get_by_role("button", name="Plan", exact=True).click()
    expect(member.page.get_by_text("1 added")).to_be_visible()
    found["plan"] = member.violations()
    assert {page: faults for page, faults in found.items() if faults} == {}


def test_graph_is_used_by_keyboard(user: User, stacks: Stacks) -> None:
    user.enter(stacks.create("keys", GROUP))
    page = user.page
    user.expect_status("CREATE_COMPLETE")
    graph = page.get_by_role("application")
    expect(graph).to_have_attribute("data-boxes", "3")
    graph.focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("complementary", name="Resource group")).to_be_visible()
    graph.focus()
    page.keyboard.press("Enter")
    expect(graph).to_have_attribute("data-boxes", "1")
    page.keyboard.press("Escape")
    expect(page.get_by_role("complementary")).to_be_hidden()


def test_rows_are_used_by_keyboard(user: User, stacks: Stacks) -> None:
    path = stacks.create("rows", GROUP)
    user.enter(f"{path}/resources")
    expect(user.page.get_by_text("3 resources")).to_be_visible()
    user.row("group").first.focus()
    user.page.keyboard.press("ArrowDown")
    expect(user.row("RandomString").first).to_be_focused()
    user.page.keyboard.press("Enter")
    expect(user.page.get_by_role("complementary")).to_contain_text("RandomString")


def test_chinese_texts_are_chosen(new_user: NewUser) -> None:
    user = new_user(locale="zh-CN")
    user.open()
    expect(user.page.get_by_role("button", name="登录")).to_be_visible()
    assert user.page.evaluate("document.documentElement.lang") == "zh-CN"
    user.page.get_by_label("语言").select_option("en")
    expect(user.page.get_by_role("button", name="Sign in")).to_be_visible()


def test_small_screen_has_no_sideways_scrolling(new_user: NewUser, stacks: Stacks) -> None:
    user = new_user(viewport={"width": 390, "height": 800})
    user.enter(stacks.create("narrow", GROUP))
    user.expect_status("CREATE_COMPLETE")
    for view in VIEWS:
        user.view(view)
        expect(user.page.get_by_role("region", name=view)).to_be_visible()
        assert user.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, view


def test_time_has_utc_on_hover(user: User, stacks: Stacks) -> None:
    path = stacks.create("times", GROUP)
    user.enter(f"{path}/events")
    time = user.page.locator("time").first
    expect(time).to_have_attribute("title", re.compile(r"Z \(UTC\)$"))


def test_operators_see_engines_and_calls(new_user: NewUser) -> None:
    user = new_user()
    user.enter("/operators", "stoker-admin")
    page = user.page
    expect(page.get_by_role("region", name="Engines")).to_contain_text("up")
    expect(page.get_by_role("region", name="Calls to cloud services")).to_contain_text("identity")


def test_administrator_opens_stack_of_other_project(new_user: NewUser, stacks: Stacks) -> None:
    stacks.create("elsewhere", GROUP)
    user = new_user()
    user.enter("/stacks?all=1", "stoker-admin")
    user.page.get_by_role("link", name="elsewhere").click()
    user.expect_status("CREATE_COMPLETE")
    user.view("Resources")
    expect(user.page.get_by_text("3 resources")).to_be_visible()
    user.page.reload()
    expect(user.page.get_by_text("3 resources")).to_be_visible()
