"""The desired stack: a template with its files and parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

import click
from msgspec import Struct, field

from stoker.cli.arguments.documents import read_document
from stoker.cli.arguments.files import (
    Bundle,
    bundle,
    declared_parameters,
    with_environment_beside,
)
from stoker.cli.arguments.locations import (
    STDIN,
    InputFile,
    Location,
    location_of,
    require_one_stdin,
)
from stoker.cli.arguments.options import (
    auto_environment,
    complete_parameters,
    complete_stacks,
    environments,
    name_and_value,
    parameters,
)
from stoker.cli.arguments.value_sources import finding_at_source
from stoker.cli.client.client import Client, RefusedError
from stoker.cli.client.retry import handles_to_renew
from stoker.cli.client.stacks import ORCHESTRATION, Stack
from stoker.cli.console.failures import InputError
from stoker.cli.console.findings import DocumentError, finding_from_api
from stoker.cli.deploy.plan import Plan, plan_of_create, plan_of_update
from stoker.kernel.addresses import STACK_NAME
from stoker.kernel.diagnostics import did_you_mean

_PARAMETERS: tuple[Callable[..., Any], ...] = (
    click.argument("template", type=InputFile()),
    environments,
    auto_environment,
    parameters,
    click.option(
        "--parameter-file",
        "parameter_files",
        multiple=True,
        callback=name_and_value,
        metavar="NAME=FILE",
        help="Value of a parameter: the text in a file, at a URL, or of standard input (-).",
        shell_complete=complete_parameters,
    ),
    click.option(
        "--name",
        "--stack",
        metavar="NAME",
        help="Name of the stack.  [default: that of the template]",
        shell_complete=complete_stacks,
    ),
    click.option(
        "--converge",
        is_flag=True,
        help="Of an update: repair what others have changed or deleted, too.",
    ),
    click.option(
        "--move",
        "moves",
        multiple=True,
        callback=name_and_value,
        metavar="OLD=NEW",
        help="Of an update: the resource NEW keeps the object of OLD.",
    ),
    click.option(
        "--import",
        "import_objects",
        multiple=True,
        callback=name_and_value,
        metavar="NAME=ID",
        help="The existing object ID becomes the resource NAME.",
    ),
    click.option(
        "--change-imported",
        is_flag=True,
        help="Of an update: change imported objects where they differ from the template.",
    ),
    click.option(
        "--keep",
        "keep_objects",
        multiple=True,
        metavar="NAME",
        help="Of an update: the removed resource NAME leaves the stack, and its object stays.",
    ),
    click.option(
        "--express",
        is_flag=True,
        help="Start resources as soon as those before them can be used, before they are settled.",
    ),
    click.option(
        "--existing",
        is_flag=True,
        help="Of an update: keep parameters and environments of the last deployment that are not"
        " given again.",
    ),
)


_CHOICES = (
    "converge", "existing", "moves", "import_objects", "change_imported", "keep_objects",
    "express", "auto_environment",
)  # fmt: skip


class DeployRequest(Struct, frozen=True):
    """A desired stack."""

    name: str
    sent: Bundle
    values: Mapping[str, str]
    converge: bool = False
    existing: bool = False  # Keep parameters and environments of the last deployment.
    moves: Mapping[str, str] = field(default_factory=dict)  # new names of resources by old names
    import_objects: Mapping[str, str] = field(default_factory=dict)  # ids by resource
    change_imported: bool = False
    keep_objects: tuple[str, ...] = ()  # removed resources whose objects stay
    express: bool = False

    @property
    def method(self) -> str:
        """Return the HTTP method of an update."""
        return "PATCH" if self.existing else "PUT"

    def declared_parameters(self) -> list[str]:
        """Return the names of the template's parameters."""
        return declared_parameters(self.sent.template)

    def create_body(self) -> dict[str, Any]:
        """Return the body for a new stack. Raises :class:`InputError` if resources are moved."""
        if self.moves:
            raise InputError(
                f"there is no stack {self.name} whose resources could be moved; check --name, or"
                " leave --move out"
            )
        if self.change_imported:
            raise InputError(
                f"{self.name} would be a new stack, which imports objects as they are; write their"
                " values into the template, or deploy the stack without them first"
            )
        if self.keep_objects:
            raise InputError(
                f"there is no stack {self.name} that resources could leave; check --name, or leave"
                " --keep out"
            )
        return {**self._body(), "stack_name": self.name}

    def new_template_body(self) -> dict[str, Any]:
        """Return the body that creates another stack from the same template."""
        return {**self._body(), "stack_name": self.name}

    def _body(self) -> dict[str, Any]:
        body: dict[str, Any] = {
            "template": self.sent.template,
            "files": dict(self.sent.files),
            "parameters": dict(self.values),
        }
        if self.sent.environment_files:
            body["environment_files"] = list(self.sent.environment_files)
        if self.import_objects:
            body["import_objects"] = dict(self.import_objects)
        if self.express:
            body["express"] = True
        return body

    def update_body(self) -> dict[str, Any]:
        """Return the body for an existing stack."""
        chosen = {
            "converge": self.converge,
            "existing": self.existing,
            "moves": dict(self.moves),
            "change_imported": self.change_imported,
            "keep_objects": list(self.keep_objects),
        }
        return {**self._body(), **{name: value for name, value in chosen.items() if value}}

    def plan(self, client: Client, stack: Stack, *, fingerprint: bool = False) -> Plan:
        """Return the changes of a deployment in a stack, and in its nested stacks."""
        broken = [handle.physical_id for handle in handles_to_renew(client, stack)]
        options = {"show_nested": "true", "unhealthy": broken, "fingerprint": fingerprint}
        options |= {"quotas": "true", "warnings": "true", "changes_only": "true"}
        query = urlencode(options, doseq=True)
        answer = self.send(client, self.method, f"{stack.path}/preview?{query}", self.update_body())
        return plan_of_update(answer, self.sent.place)

    def plan_of_new(self, client: Client, *, fingerprint: bool = False) -> Plan:
        """Return the resources that a deployment would create."""
        body = self.create_body()
        path = f"/stacks/preview?fingerprint={fingerprint}&quotas=true"
        return plan_of_create(self.send(client, "POST", path, body))

    def send(self, client: Client, method: str, path: str, body: Mapping[str, Any]) -> Any:
        """Send a request with the stack; return the answer.

        Raises :class:`DocumentError` with the lines of the user's files for faults in them.
        """
        try:
            return client.call(ORCHESTRATION, method, path, body)
        except RefusedError as refusal:
            if refusal.diagnostics:
                found = [
                    finding_at_source(
                        finding_from_api(item, self.sent.place), self.sent, self.values
                    )
                    for item in refusal.diagnostics
                ]
                raise DocumentError(found, self.sent.texts()) from None
            if refusal.status == 400:
                raise InputError(refusal.message) from None
            raise


class DeployArguments(Struct, frozen=True):
    """The arguments that describe a stack."""

    template: Location
    environments: tuple[Location, ...]
    values: Mapping[str, str]
    files: Mapping[str, Location]  # parameter -> file with its value
    name: str | None
    converge: bool
    existing: bool
    moves: Mapping[str, str] = field(default_factory=dict)  # new names by old names
    import_objects: Mapping[str, str] = field(default_factory=dict)  # ids by resource
    change_imported: bool = False
    keep_objects: tuple[str, ...] = ()  # removed resources whose objects stay
    express: bool = False
    auto_environment: bool = True  # Use the environment beside the template.

    @property
    def is_template_alone(self) -> bool:
        """Return whether only the template is given."""
        return not (
            self.environments
            or self.values
            or self.files
            or self.name
            or self.converge
            or self.existing
            or self.moves
            or self.import_objects
            or self.keep_objects
            or self.express
        )

    def request(self) -> DeployRequest:
        """Return the described stack.

        Raises :class:`InputError` for unreadable files.
        """
        require_one_stdin([self.template, *self.environments, *self.files.values()])
        sent = bundle(self.template, self._environments())
        if sent.missing:
            raise DocumentError(sent.missing, sent.texts())
        values = {**_read(self.files), **self.values}
        if self.existing:
            _require_declared(values, sent)
        return DeployRequest(
            self.name or name_of_template(self.template),
            sent,
            values,
            self.converge,
            self.existing,
            self.moves,
            self.import_objects,
            self.change_imported,
            self.keep_objects,
            self.express,
        )

    def _environments(self) -> Sequence[Location]:
        """Return all environments. ``--existing`` keeps the values that the last deployment had."""
        if not self.auto_environment:
            return self.environments
        return with_environment_beside(self.template, self.environments, existing=self.existing)


def stack_arguments(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the arguments that describe a stack; the command gets ``arguments``."""

    @wraps(command)
    def with_arguments(
        template: Location,
        environments: tuple[Location, ...],
        parameters: dict[str, str],
        parameter_files: dict[str, str],
        name: str | None,
        **others: Any,
    ) -> Any:
        files = {each: location_of(text) for each, text in parameter_files.items()}
        choices = {option: others.pop(option) for option in _CHOICES}
        arguments = DeployArguments(template, environments, parameters, files, name, **choices)
        return command(arguments=arguments, **others)

    decorated: Callable[..., Any] = with_arguments
    for parameter in reversed(_PARAMETERS):
        decorated = parameter(decorated)
    return decorated


def name_of_template(template: Location) -> str:
    """Return the name of a stack from its template's file name."""
    if template == STDIN:
        raise InputError("a template from standard input has no name; give the stack a --name")
    path = unquote(urlsplit(template).path) if isinstance(template, str) else template
    name = PurePath(path).stem
    if STACK_NAME.fullmatch(name):
        return name
    fit = re.sub(r"^[^A-Za-z]+|[^A-Za-z0-9]+$", "", name)
    fit = re.sub(r"[^A-Za-z0-9_.-]+", "-", fit) or "my-stack"
    raise InputError(
        f'the file\'s name, "{name}", cannot be the name of the stack, which starts with a letter'
        ' and holds letters, digits, "_", "-" and "." alone; give the stack another name, as with'
        f" --name {fit}"
    )


def _require_declared(values: Iterable[str], sent: Bundle) -> None:
    """Raise :class:`InputError` for a value without a parameter.

    The service ignores such values when it keeps earlier ones, whose parameters may be gone.
    """
    declared = declared_parameters(sent.template)
    for name in values:
        if name not in declared:
            hint = did_you_mean(name, declared)
            near = "" if hint is None else f" ({hint})"
            raise InputError(f'{sent.origin} has no parameter "{name}"{near}')


def _read(files: Mapping[str, Location]) -> dict[str, str]:
    found = {}
    for name, file in files.items():
        try:
            found[name] = read_document(file)
        except InputError as error:
            raise InputError(f"the value of the parameter {name}: {error.message}") from None
    return found
