"""docs/reference/security.md states the permissions that are found by trial."""

from __future__ import annotations

import httpx

from tests.rest.scene import Scene
from tests.rest.security import INTRODUCTION, PAGE, page


def test_the_page_is_what_each_role_gets(scene: Scene) -> None:
    document = httpx.get(f"{scene.service.url}/v1/openapi.json", timeout=20).json()
    found = page(scene, document)
    assert len(found) > 2 * len(INTRODUCTION)
    written = PAGE.read_text(encoding="utf-8")
    differing = sorted(set(found.splitlines()) ^ set(written.splitlines()))
    assert not differing, "\n".join(["python -m tests.rest writes the page", *differing])
    assert found == written
