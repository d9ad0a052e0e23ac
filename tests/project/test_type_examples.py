"""The examples of docs/reference/resource-types are good templates."""

from __future__ import annotations

from pathlib import Path

from tools.type_examples import example

from stoker.resources.base.builtin_types import built_in
from stoker.resources.base.registry import Registry
from tests.cli.conftest import stoker


def test_every_example_of_a_type_is_valid(tmp_path: Path) -> None:
    files = []
    for name in built_in():
        type_ = Registry().find(name)
        assert type_ is not None
        file = tmp_path / f"{name.replace('::', '-')}.yaml"
        file.write_text(example(type_))
        files.append(str(file))
    done = stoker("validate", *files)
    findings = [line for line in done.output.splitlines() if "error:" in line]
    assert (findings, done.exit_code) == ([], 0)
