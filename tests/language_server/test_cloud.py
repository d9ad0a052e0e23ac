"""Names of the cloud's objects in completions."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Event
from typing import Any

from stoker.cli.authoring.language_server.cloud import CloudChoices
from stoker.cli.authoring.language_server.completion.completer import complete
from stoker.cli.authoring.language_server.completion.objects import ObjectCandidates
from stoker.cli.authoring.language_server.session import Session
from stoker.cli.authoring.language_server.settings import CloudSettings, Settings
from stoker.cli.client.client import UnreachableError

SERVER = (
    "heat_template_version: 2021-04-16\nresources:\n  a:\n    type: OS::Nova::Server\n"
    "    properties:\n      flavor: |\n"
)
PARAMETER = (
    "heat_template_version: 2021-04-16\nparameters:\n  kind:\n    type: string\n"
    "    constraints: [{custom_constraint: nova.flavor}]\n    default: |\n"
)
ENABLED = CloudSettings(enabled=True)
PATIENCE_SECONDS = 60.0


class Service:
    """Answers like the service, once it may."""

    def __init__(self) -> None:
        self.may_answer = Event()
        self.is_down = False
        self.asked: list[str] = []

    def get(self, service: str, path: str) -> Any:
        self.may_answer.wait(PATIENCE_SECONDS)
        self.asked.append(f"{service}{path}")
        if self.is_down:
            raise UnreachableError("no answer")
        return {"choices": [{"id": "1", "name": "m1.tiny"}, {"id": "2", "name": "10"}]}

    def close(self) -> None:
        """Do nothing."""


def labels(
    folder: Path, choices: CloudChoices, settings: CloudSettings, marked: str, name: str
) -> tuple[list[str], bool]:
    """Return the completions at the "|", and whether there may be more later."""
    session = Session(Settings())
    try:
        offset = marked.index("|")
        text = marked.replace("|", "", 1)
        document = session.documents.open((folder / name).as_uri(), text, 1)
        objects = ObjectCandidates(choices, settings)
        found = complete(document, offset, session.models, objects, has_snippets=True)
        return [item.label for item in found], objects.is_incomplete
    finally:
        session.close()


def wait_for(choices: CloudChoices, constraint: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while choices.of(ENABLED, constraint)[1]:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_names_arrive_without_blocking(tmp_path: Path) -> None:
    service = Service()
    choices = CloudChoices(lambda _: service)
    found, is_incomplete = labels(tmp_path, choices, ENABLED, SERVER, "main.yaml")
    assert "m1.tiny" not in found
    assert is_incomplete
    service.may_answer.set()
    wait_for(choices, "nova.flavor")
    found, is_incomplete = labels(tmp_path, choices, ENABLED, SERVER, "main.yaml")
    assert {"m1.tiny", '"10"'} <= set(found)
    assert not is_incomplete
    assert "m1.tiny" in labels(tmp_path, choices, ENABLED, PARAMETER, "main.yaml")[0]
    (tmp_path / "main.yaml").write_text(PARAMETER.replace("    default: |\n", ""))
    environment = "parameters:\n  kind: |\n"
    found = labels(tmp_path, choices, ENABLED, environment, "main.env.yaml")[0]
    assert "m1.tiny" in found
    assert service.asked == ["orchestration/constraint_choices/nova.flavor"]
    choices.close()


def test_cloud_is_not_asked_without_consent(tmp_path: Path) -> None:
    service = Service()
    choices = CloudChoices(lambda _: service)
    found = labels(tmp_path, choices, CloudSettings(), SERVER, "main.yaml")
    assert not found[1]
    assert service.asked == []
    choices.close()


def test_service_that_is_down_gives_no_names(tmp_path: Path) -> None:
    service = Service()
    service.is_down = True
    service.may_answer.set()
    choices = CloudChoices(lambda _: service)
    labels(tmp_path, choices, ENABLED, SERVER, "main.yaml")
    wait_for(choices, "nova.flavor")
    assert choices.of(ENABLED, "nova.flavor") == ((), False)
    without = CloudChoices(lambda _: None)
    labels(tmp_path, without, ENABLED, SERVER, "main.yaml")
    wait_for(without, "nova.flavor")
    choices.close()
    without.close()
