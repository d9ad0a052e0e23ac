"""The stack that the user wants: a template with its files and the values of its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import click

from stoker.cli.changes import Change, changes_of_update
from stoker.cli.client import Client, Refused
from stoker.cli.failures import BadInput
from stoker.cli.files import Bundle, bundle
from stoker.cli.findings import BadDocument, finding_from_api
from stoker.cli.options import environments, name_and_value, parameters
from stoker.cli.retry import handles_to_renew
from stoker.cli.stacks import ORCHESTRATION, Stack

_FILE = click.Path(path_type=Path)
_PARAMETERS: tuple[Callable[..., Any], ...] = (
    click.argument("template", type=_FILE),
    environments,
    parameters,
    click.option(
        "--parameter-file",
        "parameter_files",
        multiple=True,
        callback=name_and_value,
        metavar="NAME=FILE",
        help="Value of a parameter, from a file.",
    ),
    click.option(
        "--name", metavar="NAME", help="Name of the stack.  [default: that of the template]"
    ),
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A stack to be."""

    name: str
    sent: Bundle
    values: Mapping[str, str]

    def body(self) -> dict[str, Any]:
        """The part of a request that describes the stack."""
        body: dict[str, Any] = {
            "template": self.sent.template,
            "files": dict(self.sent.files),
            "parameters": dict(self.values),
        }
        if self.sent.environment_files:
            body["environment_files"] = list(self.sent.environment_files)
        return body

    def changes(self, client: Client, stack: Stack) -> list[Change]:
        """What a deployment would change in a stack, and in those nested in it."""
        broken = [handle.physical_id for handle in handles_to_renew(client, stack)]
        query = urlencode({"show_nested": "true", "unhealthy": broken}, doseq=True)
        path = f"{stack.path}/preview?{query}"
        return changes_of_update(self.send(client, "PUT", path, self.body()))

    def send(self, client: Client, method: str, path: str, body: Mapping[str, Any]) -> Any:
        """Send a request that holds the stack; returns the answer.

        Raises :class:`BadDocument` with the lines of the user's files for what is wrong in them.
        """
        try:
            return client.call(ORCHESTRATION, method, path, body)
        except Refused as refusal:
            if refusal.diagnostics:
                found = [finding_from_api(item, self.sent.place) for item in refusal.diagnostics]
                raise BadDocument(found, self.sent.texts()) from None
            if refusal.status == 400:
                raise BadInput(refusal.message) from None
            raise


def stack_arguments(command: Callable[..., Any]) -> Callable[..., Any]:
    """The arguments that describe a stack; the command gets them as ``wanted``."""

    @wraps(command)
    def with_wanted(
        template: Path,
        environments: tuple[Path, ...],
        parameters: dict[str, str],
        parameter_files: dict[str, str],
        name: str | None,
        **others: Any,
    ) -> Any:
        sent = bundle(template, environments)
        if sent.missing:
            raise BadDocument(sent.missing, sent.texts())
        values = {**_read(parameter_files), **parameters}
        return command(wanted=Wanted(name or template.stem, sent, values), **others)

    decorated: Callable[..., Any] = with_wanted
    for parameter in reversed(_PARAMETERS):
        decorated = parameter(decorated)
    return decorated


def _read(files: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for name, file in files.items():
        try:
            found[name] = Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"the file of the parameter {name} cannot be read: {error}") from None
    return found
