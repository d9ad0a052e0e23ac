"""``python -m tests.console.screenshots``: takes the pictures of the console in the documents.

Starts a service with its local cloud, deploys the example, a group and a failing stack, and writes
one picture of each page to ``docs/guide/howto/images/console``.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from tests.console.page.conftest import QUIET, ROOT, Stacks, User
from tests.console.page.templates import FAILING, GROUP
from tests.recovery.service import Service

PICTURES = ROOT / "docs/guide/howto/images/console"
VIEWS = (
    "Graph", "Timeline", "Resources", "Events", "Outputs", "Parameters", "Template", "Snapshots",
    "Drift", "Deployments",
)  # fmt: skip


def main() -> None:
    """Take all pictures."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory, sync_playwright() as playwright:
        service = Service(Path(directory) / "data")
        service.start()
        browser = playwright.chromium.launch(executable_path=program, args=[*QUIET, "--no-sandbox"])
        try:
            page = browser.new_page(viewport={"width": 1200, "height": 720}, locale="en-US")
            take(User(service, page))
        finally:
            browser.close()
            service.stop()


def take(user: User) -> None:
    """Go through all pages."""
    page, stacks = user.page, Stacks(user.service)
    user.open()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    save(page, "sign-in")
    deploy(user.service, "examples/web-app.yaml")
    stacks.create("workers", GROUP, parameters={"size": 6}, tags="staging")
    failing = stacks.create("reports", FAILING, tags="staging")
    user.sign_in()
    expect(user.row("CREATE_FAILED")).to_be_visible()
    save(page, "stacks")
    page.get_by_role("link", name="web-app").click()
    for view in VIEWS:
        user.view(view)
        expect(page.get_by_role("region", name=view)).to_be_visible()
        save(page, view.lower())
    user.view("Resources")
    user.row("OS::Nova::Server").click()
    save(page, "resource")
    page.get_by_role("link", name="Update", exact=True).click()
    page.get_by_label("Title").fill("Hello again")
    save(page, "update")
    page.get_by_role("button", name="Plan", exact=True).click()
    expect(page.get_by_text("1 replaced")).to_be_visible()
    save(page, "plan")
    user.open(failing)
    expect(page.get_by_role("region", name="Likely root cause")).to_be_visible()
    page.get_by_role("button", name="Go to the failure").click()
    save(page, "failure")
    page.get_by_role("button", name="demo").click()
    page.get_by_role("button", name="Sign out").click()
    user.sign_in("stoker-admin")
    user.open("/operators")
    expect(page.get_by_role("region", name="Calls to cloud services")).to_be_visible()
    save(page, "operators")


def deploy(service: Service, template: str) -> None:
    """Deploy a template with the command."""
    command = [str(Path(sys.executable).parent / "stoker"), "deploy", template]
    environment = ["--data-dir", str(service.data_dir)]
    subprocess.run([*command, *environment], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def save(page: Page, name: str) -> None:
    """Save a picture, once everything has been drawn."""
    page.wait_for_timeout(900)
    page.screenshot(path=PICTURES / f"{name}.png")


if __name__ == "__main__":
    main()
