"""An operator's package can say who sends a request."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stoker.config.loading import load
from stoker.engine.model.requests import Caller
from stoker.identity.backends import authentication

PACKAGE = """
from stoker.engine.model.requests import Caller

def by_header(conf, keystone):
    async def authenticate(headers, project_id):
        name = headers.get("x-trusted-user")
        if name is None:
            return await keystone(headers, project_id)
        return Caller(project_id or "", name, name, frozenset({conf.heat_stack_user_role}))
    return authenticate
"""


async def by_keystone(headers: Mapping[str, str], project_id: str | None) -> Caller | None:
    return Caller("p", "from-keystone") if "x-auth-token" in headers else None


def options(tmp_path: Path, text: str = "") -> Any:
    path = tmp_path / "stoker.conf"
    path.write_text(text)
    return load([path])


def install(directory: Path, name: str = "headers") -> None:
    """Write the metadata that pip leaves of a package with an entry point."""
    (directory / "trusting_headers.py").write_text(PACKAGE)
    metadata = directory / "trusting_headers-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: trusting-headers\nVersion: 1\n"
    )
    (metadata / "entry_points.txt").write_text(
        f"[stoker.authentication]\n{name} = trusting_headers:by_header\n"
    )


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    install(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "trusting_headers", raising=False)
    return tmp_path


def test_identity_service_is_the_default_backend(tmp_path: Path) -> None:
    assert authentication(options(tmp_path), by_keystone) is by_keystone


async def test_a_package_authenticates_and_may_fall_back(installed: Path) -> None:
    text = "[DEFAULT]\nauthentication_backend = headers\n[paste_deploy]\nflavor = custombackend\n"
    chosen = authentication(options(installed, text), by_keystone)
    caller = await chosen({"x-trusted-user": "ann"}, "p7")
    assert caller == Caller("p7", "ann", "ann", frozenset({"heat_stack_user"}))
    assert await chosen({}, "p7") is None
    fallen_back = await chosen({"x-auth-token": "t"}, "p7")
    assert fallen_back is not None
    assert fallen_back.user_id == "from-keystone"


@pytest.mark.parametrize(
    "text",
    ["[DEFAULT]\nauthentication_backend = kerberos\n", "[paste_deploy]\nflavor = custombackend\n"],
)
def test_missing_backend_prevents_start(installed: Path, text: str) -> None:
    with pytest.raises(ValueError, match="there is headers, not"):
        authentication(options(installed, text), by_keystone)
