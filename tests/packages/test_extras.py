"""Extras: the modules that stand for them, and the commands that add them."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest

from stoker.kernel.extras import MODULES, extra_of, install_command

DEVELOPMENT = {"deploy", "dev", "docs"}
# None in sys.modules makes a module missing, for imports and for find_spec.
START = """
import sys
sys.modules.update(dict.fromkeys({blocked!r}))
from stoker.cli.main import heat_manage, main
sys.argv = ["stoker", *{arguments!r}]
{function}()
"""


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def packages_of_extras() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for line in requires("stoker") or []:
        extra = re.search(r"extra == [\"']([\w-]+)", line)
        name = re.match(r"[\w.-]+", line)
        if extra and name and normal(name[0]) != "stoker":
            found.setdefault(extra[1], set()).add(normal(name[0]))
    return {extra: names for extra, names in found.items() if extra not in DEVELOPMENT}


def test_modules_belong_to_packages_of_their_extra() -> None:
    distributions = packages_distributions()
    installed = {normal(name) for names in distributions.values() for name in names}
    declared = packages_of_extras()
    assert set(MODULES) == set(declared)
    for extra, modules in MODULES.items():
        own = declared[extra] if extra == "server" else declared[extra] - declared["server"]
        providers = {normal(name) for module in modules for name in distributions.get(module, ())}
        assert own & installed <= providers, extra


def test_extra_of_a_submodule_is_found() -> None:
    assert extra_of("sqlalchemy.orm") == "server"
    assert extra_of("json") is None
    assert extra_of(None) is None


@pytest.mark.parametrize(
    ("receipt", "command"),
    [
        ("", "pip install"),
        ("pipx_metadata.json", "pipx install --force"),
        ("uv-receipt.toml", "uv tool install"),
    ],
)
def test_command_names_the_installer(
    receipt: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    if receipt:
        (tmp_path / receipt).touch()
    words = install_command("takeover").split(' "stoker[')
    assert words[0] == command
    assert "takeover" in words[1].rstrip(']"').split(",")


def run_without(extras: list[str], arguments: list[str], function: str = "main") -> str:
    """Return the error output of a command where the modules of extras are missing."""
    blocked = {module for extra in extras for module in MODULES[extra]}
    code = START.format(blocked=blocked, arguments=arguments, function=function)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1, done.stderr
    return done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["serve", "--no-local-cloud", "--port", "0", "--cfn-port", "0", "--cloudwatch-port", "0"],
        ["api", "--port", "0"],
        ["db", "check"],
        ["config", "check"],
        ["policy", "sample"],
        ["service", "list"],
        ["takeover", "check"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_commands_of_the_service_name_their_extra(arguments: list[str], tmp_path: Path) -> None:
    if arguments[0] in {"serve", "api"}:
        arguments = [*arguments, "--data-dir", str(tmp_path)]
    said = run_without(["server", "local"], arguments)
    assert said.splitlines()[-1].startswith(
        f"stoker: stoker {arguments[0]} needs stoker[server], which is not"
    )


def test_deployment_without_a_service_names_the_local_extra(tmp_path: Path) -> None:
    template = Path(__file__).parents[2] / "examples/hello.yaml"
    said = run_without(["local"], ["deploy", str(template), "--data-dir", str(tmp_path)])
    assert said.startswith("stoker: a service on this machine needs stoker[local], which is not")


def test_language_server_needs_only_its_own_extra() -> None:
    said = run_without(["lsp", "server"], ["lsp"])
    assert said.startswith("stoker: stoker lsp needs stoker[lsp], which is not installed")
    assert 'install "stoker[lsp' in said


def test_heat_manage_names_its_extra() -> None:
    said = run_without(["server"], ["db_sync"], "heat_manage")
    assert said.startswith("stoker: heat-manage needs stoker[server], which is not")
