"""A newcomer with nothing but Python and the packages: from the installation to a running stack."""

from __future__ import annotations

import asyncio
import re
import urllib.request
from pathlib import Path

import pytest

from tests.language_server.editor import opened
from tests.packages.user import User

pytestmark = pytest.mark.long


def test_newcomer_gets_from_installation_to_a_running_stack(packages: Path, tmp_path: Path) -> None:
    user = User(tmp_path, packages)
    user.install_with_pipx("stoker[local,lsp]")
    user.run("stoker", "new", "web-app", "shop")
    shop = tmp_path / "shop"
    template = shop / "web-app.yaml"

    template.write_text(asyncio.run(edited(user, template, template.read_text())))
    assert "default: Hello from the shop" in template.read_text()

    user.run("stoker", "fmt", "--check", "shop")
    user.run("stoker", "lint", "shop")
    said = user.run("stoker", "test", "shop")
    assert "1 passed" in said
    data = ("--data-dir", str(tmp_path / "data"))
    said = user.run("stoker", "deploy", str(template), "--yes", *data)
    try:
        assert "CREATE_COMPLETE" in said
        url = user.run("stoker", "output", "web-app", "url", *data).splitlines()[-1]
        with urllib.request.urlopen(url) as response:
            assert "Hello from the shop" in response.read().decode()
        page = user.run("stoker", "open", "web-app", "--print", *data)
        assert re.search(r"http://127\.0\.0\.1:\d+/console/", page)
        assert "nothing changes" in user.run("stoker", "plan", str(template), *data)
        user.run("stoker", "destroy", "web-app", "--yes", *data)
    finally:
        user.run("stoker", "stop", *data)


async def edited(user: User, template: Path, text: str) -> str:
    """Change the title in an editor, after a mistake that the language server reports."""
    stoker = str(user.home / ".local/bin/stoker")
    async with opened(template.parent, program=[stoker]) as editor:
        uri = editor.open(template.name, text)
        await editor.no_findings(uri)
        start = text.index("Hello from Stoker")
        editor.replace(uri, start, start + len("Hello from Stoker"), "Hello from the shop")
        place = editor.texts[uri].index("flavor: {get_param: flavor}")
        editor.replace(uri, place, place + len("flavor"), "flavour")
        found = await editor.findings_with(uri, "flavour")
        assert any("flavor" in each.message for each in found)
        editor.replace(uri, place, place + len("flavour"), "flavor")
        await editor.no_findings(uri)
        return editor.texts[uri]
