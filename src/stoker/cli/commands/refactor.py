"""``stoker refactor``: resources move between stacks, and keep their objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

import click
from msgspec import Struct
from rich.console import Console

from stoker.cli.arguments import options as shared
from stoker.cli.arguments.files import bundle
from stoker.cli.arguments.locations import Location, location_of, require_one_stdin
from stoker.cli.arguments.options import name_and_value
from stoker.cli.client.client import Client, RefusedError
from stoker.cli.client.stacks import ORCHESTRATION, find_stack
from stoker.cli.client.target import Target
from stoker.cli.console.console import console_beside, print_json, say
from stoker.cli.console.failures import InputError
from stoker.cli.console.findings import DocumentError, finding_from_api
from stoker.cli.deploy.confirmation import confirm
from stoker.cli.deploy.request import DeployRequest, name_of_template
from stoker.cli.local.service import connect
from stoker.kernel.addresses import STACK_NAME


class _Refactor(Struct, frozen=True):
    """Stacks with their new templates, and the moves."""

    stacks: Sequence[DeployRequest]
    new: frozenset[str]  # names of stacks that do not exist yet
    moves: Mapping[str, str]

    def send(self, client: Client, path: str) -> Any:
        """Send the request; return the effect. Raises DocumentError with the user's lines."""
        stacks = [{**each.update_body(), "stack_name": each.name} for each in self.stacks]
        body = {
            "stacks": stacks,
            "moves": dict(self.moves),
            "enable_stack_creation": bool(self.new),
        }
        try:
            return client.call(ORCHESTRATION, "POST", path, body)["refactor"]
        except RefusedError as refusal:
            if refusal.diagnostics:
                found = [finding_from_api(item, self._place) for item in refusal.diagnostics]
                raise DocumentError(found, self._texts()) from None
            if refusal.status in (400, 404):
                raise InputError(refusal.message) from None
            raise

    def _place(self, file: str | None) -> str:
        """Return the user's name of a file. The service names a template by its stack."""
        for each in self.stacks:
            if file in (None, each.name):
                return each.sent.origin
            if file in each.sent.places:
                return each.sent.place(file)
        return str(file)

    def _texts(self) -> dict[str, str]:
        return {name: text for each in self.stacks for name, text in each.sent.texts().items()}


@click.command("refactor")
@click.argument("templates", metavar="[STACK=]TEMPLATE...", nargs=-1, required=True)
@click.option(
    "--move",
    "moves",
    multiple=True,
    callback=name_and_value,
    metavar="OLD=NEW",
    help="The resource at OLD becomes the one at NEW, as in shop/db=data/db or /db=/storage/db.",
)
@shared.parameters
@click.option("--dry-run", is_flag=True, help="Show what would move, and move nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@shared.as_json
@shared.service
def command(
    templates: tuple[str, ...],
    moves: dict[str, str],
    parameters: dict[str, str],
    dry_run: bool,
    yes: bool,
    as_json: bool,
    target: Target,
) -> None:
    """Move resources to other stacks, or into nested stacks and out of them.

    The objects stay as they are: the cloud gets no request that changes one. Each TEMPLATE is the
    new template of its stack, named by STACK or by the file. Together they must describe the
    existing resources in other places; any other difference is an error, and nothing is moved. All
    resources move, or none.

    OLD and NEW are paths: the name of a stack, then names of resources down to the resource. With
    one TEMPLATE, a path may start with a slash instead. The templates can declare the moves:
    metadata: {stoker: {moved_from: shop/db}}.

    A stack that does not exist is created, with the parameters of -P. The others keep the
    parameters and environments of the last deployment. Nested stacks are created, and deleted when
    they are empty.

    Exit code 0: moved; 2: the templates describe more than moves, or other input is wrong.

    \b
    Examples
      stoker refactor shop.yaml data.yaml --move shop/db=data/db
      stoker refactor shop.yaml --move /web=/frontend/web --dry-run
    """
    console = console_beside(as_json=as_json)
    with closing(connect(target)) as client:
        refactor = _refactor(client, templates, moves, parameters)
        effect = refactor.send(client, "/stack_refactors/preview")
        if not as_json or not (dry_run or yes):
            _print(console, effect)
        if not dry_run:
            if not yes:
                confirm("Move them?", client)
            effect = refactor.send(client, "/stack_refactors")
            if not as_json:
                say(console, "Moved.")
    if as_json:
        print_json(effect)


def _refactor(
    client: Client,
    templates: tuple[str, ...],
    moves: Mapping[str, str],
    parameters: Mapping[str, str],
) -> _Refactor:
    """Read the templates, and look for their stacks. Raises InputError for unreadable files."""
    named = [_named(text) for text in templates]
    require_one_stdin([template for _, template in named])
    stacks, new = [], set[str]()
    for name, template in named:
        sent = bundle(template)
        if sent.missing:
            raise DocumentError(sent.missing, sent.texts())
        exists = find_stack(client, name, outputs=False) is not None
        if not exists:
            new.add(name)
        stacks.append(DeployRequest(name, sent, {} if exists else parameters, existing=exists))
    if parameters and not new:
        raise InputError(
            "-P is for new stacks; these stacks keep their parameters. Change them with stoker"
            " deploy, before or after the refactor"
        )
    return _Refactor(stacks, frozenset(new), moves)


def _named(text: str) -> tuple[str, Location]:
    """Return the name of a stack and its template."""
    name, separator, file = text.partition("=")
    if separator and STACK_NAME.fullmatch(name):
        return name, location_of(file)
    template = location_of(text)
    return name_of_template(template), template


def _print(console: Console, effect: Mapping[str, Any]) -> None:
    for move in effect["moves"]:
        name = move["physical_resource_id"]
        say(console, f"> {move['source']} -> {move['target']}  {move['resource_type']}", "cyan")
        if name:
            say(console, f"    keeps {name}")
    for sign, key, style in (("+", "created_stacks", "green"), ("-", "deleted_stacks", "red")):
        for stack in effect[key]:
            kind = "nested stack" if "/" in stack["path"] else "stack"
            say(console, f"{sign} {stack['path']}  {kind}", style)
