"""Optional parts of an installation, and the command that adds a missing one.

``pyproject.toml`` lists the packages of each extra. The modules here are how a missing extra is
noticed; ``tests/packages/test_extras.py`` compares both lists.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path

MODULES: Mapping[str, tuple[str, ...]] = {
    "server": (
        "alembic",
        "cbor2",
        "cryptography",
        "httptools",
        "keystoneauth1",
        "openstack",
        "oslo_config",
        "oslo_policy",
        "prometheus_client",
        "sqlalchemy",
        "starlette",
        "uvicorn",
        "uvloop",
    ),
    "local": ("localcloud",),
    "postgresql": ("procrastinate", "psycopg"),
    "notifications": ("oslo_messaging",),
    "takeover": ("pymysql",),
    "otel": ("opentelemetry",),
    "lsp": ("lsprotocol", "pygls"),
}
_BASE = "server"  # the other extras include it, except those of tools for authors
_WITHOUT_BASE = frozenset((_BASE, "lsp"))


def extra_of(module: str | None) -> str | None:
    """Return the extra that installs a module, which may be named with its submodule."""
    top = (module or "").partition(".")[0]
    return next((extra for extra, modules in MODULES.items() if top in modules), None)


def is_installed(extra: str) -> bool:
    """Return whether all modules of an extra can be imported."""
    needed = MODULES[extra] if extra in _WITHOUT_BASE else (*MODULES[_BASE], *MODULES[extra])
    return all(importlib.util.find_spec(name) for name in needed)


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this installation, and keeps those it has."""
    wanted = [each for each in MODULES if each == extra or is_installed(each)]
    if _BASE in wanted and not _WITHOUT_BASE.issuperset(wanted):
        wanted.remove(_BASE)
    package = f'"stoker[{",".join(wanted)}]"'
    environment = Path(sys.prefix)
    if (environment / "pipx_metadata.json").exists():
        return f"pipx install --force {package}"
    if (environment / "uv-receipt.toml").exists():
        return f"uv tool install {package}"
    return f"pip install {package}"
