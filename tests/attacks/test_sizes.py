"""Small templates whose values grow once they are known."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.attacks.arena import MEBIBYTE, Arena, create, ended, reason


def value(of: Any) -> dict[str, Any]:
    return {"type": "OS::Heat::Value", "properties": {"value": of}}


def ninety_times(name: str) -> dict[str, Any]:
    return {"list_join": ["", [{"get_attr": [name, "value"]}] * 90]}


def growing(copies: int) -> dict[str, Any]:
    """A template of two kilobytes whose values are of eight megabytes each."""
    names = [f"r{number}" for number in range(copies)]
    return {
        "heat_template_version": "2018-08-31",
        "resources": {
            "s": value("x" * 1000),
            "a": value(ninety_times("s")),
            "b": value(ninety_times("a")),
            **{name: value({"get_attr": ["b", "value"]}) for name in names},
        },
        "outputs": {name: {"value": {"get_attr": [name, "value"]}} for name in names},
    }


def database_size(arena: Arena) -> int:
    return sum(path.stat().st_size for path in Path(arena.service.data_dir).glob("stoker.db*"))


def test_values_that_grow_fill_neither_memory_nor_disk(arena: Arena) -> None:
    before = database_size(arena)
    with arena.attacked(mebibytes=600, seconds=120) as attacker:
        stack_id = create(attacker, "grow", growing(20)).json()["stack"]["id"]
        assert ended(attacker, "grow") == "CREATE_FAILED"
        assert "max_values_size_per_stack" in reason(attacker, "grow")
        with ThreadPoolExecutor(8) as pool:
            path = f"/stacks/grow/{stack_id}"
            answers = list(pool.map(lambda _: attacker.ask("GET", path).status_code, range(10)))
    assert set(answers) <= {200, 503}, Counter(answers)
    assert database_size(arena) - before < 400 * MEBIBYTE
