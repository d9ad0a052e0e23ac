"""The environment of the whole service."""

from pathlib import Path

import pytest

from stoker.service_environment import registry_in


def test_registries_of_all_files_are_merged_and_other_sections_are_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.yaml").write_text("resource_registry: {A: OS::Heat::None, B: OS::Heat::None}\n")
    assert registry_in(tmp_path) == {"A": "OS::Heat::None", "B": "OS::Heat::None"}
    assert not caplog.records
    (tmp_path / "b.yaml").write_text(
        "resource_registry: {B: OS::Heat::Value}\nparameter_defaults: {x: 1}\n"
    )
    assert registry_in(tmp_path) == {"A": "OS::Heat::None", "B": "OS::Heat::Value"}
    assert "no effect" in caplog.text
    assert "parameter_defaults" in caplog.text
    assert registry_in(tmp_path / "nosuch") == {}
