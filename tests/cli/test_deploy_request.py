"""The stack that the arguments describe."""

from __future__ import annotations

from pathlib import Path

import pytest

from stoker.cli.console.failures import InputError
from stoker.cli.deploy.request import DeployArguments
from stoker.kernel.values import replace


def given(template: Path, name: str | None = None) -> DeployArguments:
    template.write_text("heat_template_version: 2018-08-31\nresources: {}\n")
    return DeployArguments(template, (), {}, {}, name, converge=False, existing=False)


def test_stack_name_comes_from_file_or_option(tmp_path: Path) -> None:
    assert given(tmp_path / "web-app.yaml").request().name == "web-app"
    assert given(tmp_path / "01_master.yaml", "main").request().name == "main"


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("01_master.yaml", "master"),
        ("my first stack.yaml", "my-first-stack"),
        ("web (copy).yaml", "web-copy"),
        ("2024.yaml", "my-stack"),
    ],
)
def test_unusable_file_name_is_refused_with_suggestion(
    tmp_path: Path, file: str, name: str
) -> None:
    with pytest.raises(InputError) as refused:
        given(tmp_path / file).request()
    assert refused.value.message.startswith(f'the file\'s name, "{Path(file).stem}", cannot be')
    assert refused.value.message.endswith(f" --name {name}")


def test_move_in_a_new_stack_is_refused(tmp_path: Path) -> None:
    given(tmp_path / "web.yaml")
    arguments = DeployArguments(
        tmp_path / "web.yaml", (), {}, {}, None, converge=False, existing=False, moves={"a": "b"}
    )
    request = arguments.request()
    assert request.update_body()["moves"] == {"a": "b"}
    with pytest.raises(InputError, match="there is no stack web whose resources could be moved"):
        request.create_body()


def test_express_is_sent_for_new_and_existing_stacks(tmp_path: Path) -> None:
    request = replace(given(tmp_path / "web.yaml"), express=True).request()
    assert (request.create_body()["express"], request.update_body()["express"]) == (True, True)
    assert "express" not in given(tmp_path / "web.yaml").request().create_body()


def test_release_from_a_new_stack_is_refused(tmp_path: Path) -> None:
    request = replace(given(tmp_path / "web.yaml"), keep_objects=("a",)).request()
    assert request.update_body()["keep_objects"] == ["a"]
    with pytest.raises(InputError, match="there is no stack web that resources could leave"):
        request.create_body()
