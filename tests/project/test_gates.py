"""The gates of ``make check`` detect the faults that they are for."""

from __future__ import annotations

import configparser
from fnmatch import fnmatch

import pytest
from tools.metrics import strongly_connected
from tools.sizes import depth_of, violations
from tools.source import ROOT, Module


def found_in(text: str, name: str = "stoker.engine.some") -> list[str]:
    """The violations of one module, without the place."""
    module = Module(ROOT / "src/some.py", name, text)
    return [line.partition(": ")[2] for line in violations({name: module})]


def test_contracts_isolate_every_service_of_resource_types() -> None:
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    named = contracts["importlinter:contract:services"]["modules"].split()
    folders = [p for p in (ROOT / "src/stoker/resources").iterdir() if (p / "__init__.py").exists()]
    services = [f"stoker.resources.{folder.name}" for folder in folders]
    assert services
    assert [each for each in services if not any(fnmatch(each, name) for name in named)] == []


def test_every_interface_is_kept_apart_from_the_others() -> None:
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    named = contracts["importlinter:contract:interfaces"]["modules"].split()
    folders = [p for p in (ROOT / "src/stoker/api").iterdir() if (p / "__init__.py").exists()]
    assert sorted(f"stoker.api.{folder.name}" for folder in folders) == sorted(named)


def test_small_module_passes() -> None:
    assert found_in("def f(a, b):\n    return a\n") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = 1\n" * 501, "the module has 501 lines, at most 500 may be"),
        (
            "class C:\n" + "    def f(self): ...\n" * 21,
            "class C has 21 methods, at most 20 may be",
        ),
        ("class C:\n" + "    a = 1\n" * 250, "class C has 251 lines, at most 250 may be"),
        ("def f():\n" + "    a = 1\n" * 60, "f has 61 lines, at most 60 may be"),
        (
            "class C:\n    def f(self, a, b, c, d, *e, g, h, i, **j): ...\n",
            "f has 9 parameters, at most 8 may be",
        ),
        (
            "".join(f"def f{n}():\n    from stoker.m{n} import x\n" for n in range(16)),
            "it imports 16 modules of ours, at most 15 may be",
        ),
    ],
    ids=["module", "methods", "class", "function", "parameters", "imports"],
)
def test_too_large_function_is_reported_with_its_size(text: str, said: str) -> None:
    assert found_in(text) == [said]


@pytest.mark.parametrize(
    "text", ["def f():\n    importlib.import_module('stoker.a')\n", "a = LazyModule('stoker.a')\n"]
)
def test_cycle_through_import_by_name_is_reported(text: str) -> None:
    texts = {"stoker.a": "from stoker import b\n", "stoker.b": text}
    modules = {name: Module(ROOT / "src/some.py", name, text) for name, text in texts.items()}
    [said] = violations(modules)
    assert said.startswith("import cycle: stoker.")


def test_the_receiver_of_a_method_is_no_parameter() -> None:
    assert found_in("class C:\n    def f(self, a, b, c, d, e, g, h, i): ...\n") == []


def test_depth_counts_the_longest_way_up() -> None:
    bases = {"A": [], "B": ["A"], "C": ["B", "A"], "D": ["C", "Elsewhere"]}
    assert [depth_of(name, bases) for name in "ABCD"] == [0, 1, 2, 3]


def test_a_cycle_is_found_whole() -> None:
    targets = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}
    assert max(strongly_connected(targets), key=len) == {"a", "b", "c"}
