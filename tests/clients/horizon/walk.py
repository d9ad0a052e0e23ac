"""A user session in Horizon, in a browser without a window. Needs the Python that has selenium.

    python walk.py URL USER PASSWORD TEMPLATE PICTURES CHROMIUM DRIVER

Logs in, launches a stack from a file, reads its topology, resources and events, and deletes it.
Prints each step; a picture of each page is saved in the directory PICTURES.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

SECONDS = 90
STACK = "from-horizon"
# Parts of the topology: the resources of the template, and one dependency.
PICTURED = {".node": 2, ".link": 1}
TABS = (
    ("overview", (STACK, "Outputs", "text")),
    ("resources", ("OS::Heat::RandomString", "OS::Heat::Value", "Create Complete")),
    ("events", ("text", "Stack CREATE completed successfully")),
    ("stack_template", ("heat_template_version",)),
)


class Browser:
    """A browser, and searches in it."""

    def __init__(self, chromium: str, driver: str, pictures: Path) -> None:
        options = webdriver.ChromeOptions()
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--no-proxy-server", "--window-size=1400,1000"):  # fmt: skip
            options.add_argument(word)
        options.binary_location = chromium
        self.driver = webdriver.Chrome(options, Service(driver))
        self.driver.set_page_load_timeout(SECONDS)
        self._pictures = pictures
        self._count = 0

    @property
    def text(self) -> str:
        """All that is seen."""
        return str(self.driver.find_element(By.TAG_NAME, "body").text)

    def until(self, claim: Callable[[], Any], what: str) -> Any:
        """Return the value of the claim, once it is true."""

        def holds(_: Any) -> Any:
            try:
                return claim()
            except StaleElementReferenceException:
                return None

        try:
            return WebDriverWait(self.driver, SECONDS, 0.5).until(holds)
        except TimeoutException:
            self.picture("failed")
            seen = f"{self.driver.current_url}\n{self.text}"
            raise SystemExit(f"not seen: {what}\n{seen}") from None

    def all(self, selector: str) -> list[Any]:
        """The elements of a CSS selector, seen or not: Horizon hides fields behind its own."""
        return list(self.driver.find_elements(By.CSS_SELECTOR, selector))

    def click(self, selector: str) -> None:
        """Click at the first element of a CSS selector, once it is there."""
        found = self.until(lambda: self.all(selector), selector)
        self.driver.execute_script("arguments[0].click()", found[0])

    def write(self, selector: str, text: str) -> None:
        """Write into a field, once it is seen."""

        def field() -> Any:
            return next((each for each in self.all(selector) if each.is_displayed()), None)

        found = self.until(field, selector)
        found.clear()
        found.send_keys(text)

    def says(self, *words: str) -> None:
        """Wait for words on the page."""
        self.until(lambda: all(word in self.text for word in words), " and ".join(words))

    def picture(self, name: str) -> None:
        """Save a picture of the page."""
        self._count += 1
        self.driver.save_screenshot(str(self._pictures / f"{self._count}-{name}.png"))

    def seen(self, what: str) -> None:
        """Report a step, with a picture."""
        self.picture(what.partition(" ")[0])
        print(what, flush=True)


def log_in(browser: Browser, url: str, user: str, password: str) -> None:
    """Log in."""
    browser.driver.get(f"{url}/auth/login/")
    browser.write("#id_username", user)
    browser.write("#id_password", password)
    browser.click("#loginBtn")
    browser.says("Overview", user)
    browser.seen("login")


def launch(browser: Browser, url: str, password: str, template: str) -> None:
    """Launch the stack from a file, and wait for it in the list."""
    browser.driver.get(f"{url}/project/stacks/")
    browser.click("#stacks__action_launch")
    browser.says("Template Source")
    browser.all("#id_template_upload")[0].send_keys(template)
    browser.click(".modal-footer input[type=submit]")
    browser.write("#id_stack_name", STACK)
    browser.write("#id_password", password)
    browser.picture("form")
    browser.click(".modal-footer input[type=submit]")
    browser.says(STACK, "Create Complete")
    browser.seen("launch")


def look(browser: Browser) -> None:
    """Visit all tabs of the stack."""
    browser.click("#stacks td a[href*='/project/stacks/stack/']")
    for kind, count in PICTURED.items():
        browser.until(lambda k=kind, c=count: len(browser.all(f"svg {k}")) == c, f"{count} {kind}")
    browser.seen("topology")
    for tab, words in TABS:
        browser.click(f"a[data-target='#stack_details__{tab}']")
        browser.says(*words)
        browser.seen(tab)


def delete(browser: Browser, url: str) -> None:
    """Delete the stack."""
    browser.driver.get(f"{url}/project/stacks/")
    browser.click("#stacks td.multi_select_column input[type=checkbox]")
    browser.click("#stacks__action_delete")
    browser.says("You have selected")
    browser.click(".modal-footer .btn-danger, .modal-footer .btn-primary")
    browser.until(lambda: STACK not in browser.all("#stacks")[0].text, "an empty list")
    browser.seen("delete")


def main(url: str, user: str, password: str, template: str, pictures: str, *programs: str) -> None:
    """Walk through the pages; ``programs`` are Chromium and its driver."""
    browser = Browser(*programs, pictures=Path(pictures))
    try:
        log_in(browser, url, user, password)
        launch(browser, url, password, template)
        look(browser)
        delete(browser, url)
    finally:
        browser.driver.quit()


if __name__ == "__main__":
    main(*sys.argv[1:])
