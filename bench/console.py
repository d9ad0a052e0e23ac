"""Times the page of the console in a headless Chromium, with a service and a local cloud.

Run: ``python -m bench.console [RESOURCES] [--events N]``. Prints as JSON: seconds to the first
view, to the graph and to the timeline of a stack; frames per second while the graph is dragged,
from the whole graph to a few boxes; and MiB of memory of the page before and after live events.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml
from playwright.sync_api import CDPSession, Page, sync_playwright

from bench.report import print_json
from bench.service import Api, Served
from bench.templates import template

WIDTH = 100  # resources in a layer
NESTED = 500  # members of the group whose updates are followed
READY_MS = 120_000
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync")
DRAG = """async (seconds) => {
    const canvas = document.querySelector("canvas");
    const {left, top} = canvas.getBoundingClientRect();
    canvas.setPointerCapture = () => {};
    const send = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type, {
        clientX: left + x, clientY: top + y, pointerId: 1, bubbles: true, button: 0}));
    send("pointerdown", 400, 300);
    const [first, start] = [Number(canvas.dataset.frame), performance.now()];
    for (let i = 0; performance.now() - start < seconds * 1000; i++) {
        send("pointermove", 400 + i % 200, 300 + i % 100);
        await new Promise(requestAnimationFrame);
    }
    send("pointerup", 400, 300);
    return (Number(canvas.dataset.frame) - first) / (performance.now() - start) * 1000;
}"""


def layered(resources: int) -> dict[str, Any]:
    """Return resources in layers; each needs two resources of the layer before."""
    return template(
        {
            f"r{n}": {
                "type": "OS::Heat::Value",
                "properties": {"value": "x"},
                "depends_on": [f"r{n - WIDTH - n % 7}", f"r{n - WIDTH}"] if n >= 2 * WIDTH else [],
            }
            for n in range(resources)
        }
    )


def group(value: int) -> dict[str, Any]:
    """Return a stack whose update changes each of its resources."""
    return template(
        {
            f"r{n}": {"type": "OS::Heat::TestResource", "properties": {"value": f"v{value}"}}
            for n in range(NESTED)
        }
    )


def sign_in(page: Page, served: Served) -> None:
    """Sign in as the user of the local cloud."""
    clouds = yaml.safe_load((served.directory / "clouds.yaml").read_text())
    auth = clouds["clouds"]["stoker"]["auth"]
    page.goto(f"{served.url}/console/")
    page.get_by_label("User name").fill(auth["username"])
    page.get_by_label("Password", exact=True).fill(auth["password"])
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("navigation", name="Main").wait_for()


def memory(session: CDPSession) -> float:
    """Return the memory of the page's objects after a garbage collection, in MiB."""
    session.send("HeapProfiler.collectGarbage")
    session.send("HeapProfiler.collectGarbage")
    found = session.send("Runtime.getHeapUsage")
    return float(found["usedSize"]) / 2**20


def measured(page: Page, api: Api, served: Served, resources: int, events: int) -> dict[str, float]:
    """Return all figures."""
    figures: dict[str, float] = {}
    path = f"{served.url}/console/stacks"
    big = api.create("big", layered(resources))
    api.await_status("big", "CREATE_COMPLETE", 300)

    def timed(name: str, url: str, ready: str) -> None:
        start = time.perf_counter()
        page.goto(url)
        page.locator(ready).first.wait_for(timeout=READY_MS)
        figures[name] = time.perf_counter() - start

    timed("first view", path, "[data-row]")
    timed("graph", f"{path}/big/{big}/graph", f"canvas[data-boxes='{resources}'][data-frame]")
    for zoom in ("whole", "part", "near"):
        figures[f"frames per second, {zoom}"] = float(page.evaluate(DRAG, 2))
        for _ in range(9):
            page.get_by_role("button", name="Zoom in").click()
    timed("timeline", f"{path}/big/{big}/timeline", "[data-row='5']")
    small = api.create("small", group(0))
    api.await_status("small", "CREATE_COMPLETE", 120)
    page.goto(f"{path}/small/{small}/events")
    page.locator("[data-row='5']").wait_for()
    session = page.context.new_cdp_session(page)
    figures["MiB before"] = memory(session)
    for number in range(1, events // (2 * NESTED) + 1):
        api.update("small", small, group(number))
        api.await_status("small", "UPDATE_COMPLETE", 120)
        if number % 20 == 0:
            page.wait_for_timeout(500)
            figures[f"MiB after {number * 2 * NESTED:,} events"] = memory(session)
    page.wait_for_timeout(1000)
    figures["MiB after"] = memory(session)
    return figures


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("resources", nargs="?", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=60_000)
    options = parser.parse_args()
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as directory, sync_playwright() as playwright:
        served = Served(Path(directory))
        served.start()
        browser = playwright.chromium.launch(executable_path=program, args=QUIET)
        try:
            page = browser.new_page(viewport={"width": 1360, "height": 860})
            sign_in(page, served)
            api = served.connect()
            print_json(measured(page, api, served, options.resources, options.events))
        finally:
            browser.close()
            served.stop()


if __name__ == "__main__":
    main()
