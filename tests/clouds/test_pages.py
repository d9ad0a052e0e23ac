"""Lists that a service gives page by page."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.clouds.fake_cloud import FakeResponse

from stoker.clouds.objects.collections import collection

QUEUES = collection("message", "queue")


def listed(pages: dict[str, tuple[list[str], str]]) -> tuple[list[str], list[str]]:
    """The names in a list, and the markers asked for; pages by marker: names, and the next one."""
    asked: list[str] = []

    def request(path: str, method: str, **arguments: Any) -> FakeResponse:
        asked.append(arguments.get("params", {}).get("marker", ""))
        names, following = pages[asked[-1]]
        links = [{"rel": "next", "href": f"{path}?marker={following}"}]
        return FakeResponse(200, {"queues": [{"name": each} for each in names], "links": links})

    found = QUEUES.select(SimpleNamespace(service=lambda _: SimpleNamespace(request=request)))
    return [item["name"] for item in found], asked


def test_pages_are_read_to_the_empty_one() -> None:
    pages = {"": (["a", "b"], "b"), "b": (["c"], "c"), "c": ([], "")}
    assert listed(pages) == (["a", "b", "c"], ["", "b", "c"])


def test_page_that_links_to_itself_is_last() -> None:
    pages = {"": (["a"], "a"), "a": (["a"], "a")}
    assert listed(pages) == (["a"], ["", "a"])
