"""``stoker deploy``: a stack from a template, created or brought up to date."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from stoker.cli import options as shared
from stoker.cli.client import Client, Refused
from stoker.cli.data_dir import running_in
from stoker.cli.failures import FAILED, BadInput, CommandFailed
from stoker.cli.files import Bundle, bundle
from stoker.cli.findings import BadDocument, finding_from_api
from stoker.cli.outcome import print_failure, print_outputs
from stoker.cli.progress import follow_or_leave
from stoker.cli.retry import renew_handles
from stoker.cli.service import connect, start_detached
from stoker.cli.stacks import (
    ORCHESTRATION,
    events_of,
    find_stack,
    last_events,
    resources_of,
    the_stack,
)
from stoker.cli.target import Target

_FILE = click.Path(path_type=Path)


@click.command("deploy")
@click.argument("template", type=_FILE)
@click.option(
    "-e",
    "--environment",
    "environments",
    type=_FILE,
    multiple=True,
    metavar="FILE",
    help="Environment file; several are merged in order.",
)
@click.option(
    "-P",
    "--parameter",
    "parameters",
    multiple=True,
    callback=shared.name_and_value,
    metavar="NAME=VALUE",
    help="Value of a parameter.",
)
@click.option(
    "--parameter-file",
    "parameter_files",
    multiple=True,
    callback=shared.name_and_value,
    metavar="NAME=FILE",
    help="Value of a parameter, from a file.",
)
@click.option("--name", metavar="NAME", help="Name of the stack.  [default: that of the template]")
@click.option("--timeout", type=click.IntRange(1), metavar="MINUTES", help="Give up after so long.")
@click.option(
    "--rollback/--no-rollback",
    default=False,
    show_default=True,
    help="After a failure, go back to how it was; without, leave everything to be looked at.",
)
@click.option("--tags", metavar="TAG,TAG", help="Tags of the stack.")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Follow it to the end.")
@shared.service
def command(
    template: Path,
    environments: tuple[Path, ...],
    parameters: dict[str, str],
    parameter_files: dict[str, str],
    name: str | None,
    wait: bool,
    target: Target,
    **settings: Any,
) -> None:
    """Create a stack from TEMPLATE, or bring it up to date where it exists.

    Shows what happens and why each resource waits, then the outputs. If it fails: the cause, what
    the servers wrote, and what to do next. Ctrl-C stops the showing, not the work.

    Where no service is named or running, one is started in the background, with a local cloud; it
    stays, so that the servers live on. "stoker stop" ends it.

    Exit code 0: done; 1: the stack failed; 2: the template or another input is wrong.

    \b
    Examples
      stoker deploy examples/web-app.yaml
      stoker deploy examples/web-app.yaml -P title='Good morning'
      stoker deploy app.yaml -e production.yaml --name shop --timeout 30 --rollback
      OS_CLOUD=mycloud stoker deploy app.yaml --no-wait
    """
    console = Console()
    sent = bundle(template, environments)
    if sent.missing:
        raise BadDocument(sent.missing, sent.texts())
    values = {**_read(parameter_files), **parameters}
    body = _body(sent, values, **settings)
    client = _connected(target, console)
    try:
        _deploy(console, client, name or template.stem, body, sent, wait=wait)
    finally:
        client.close()


def _read(files: dict[str, str]) -> dict[str, str]:
    found = {}
    for name, file in files.items():
        try:
            found[name] = Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"the file of the parameter {name} cannot be read: {error}") from None
    return found


def _body(
    sent: Bundle,
    parameters: dict[str, str],
    timeout: int | None,
    rollback: bool,
    tags: str | None,
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "template": sent.template,
        "files": dict(sent.files),
        "parameters": parameters,
        "disable_rollback": not rollback,
    }
    if sent.environment_files:
        body["environment_files"] = list(sent.environment_files)
    if timeout is not None:
        body["timeout_mins"] = timeout
    if tags is not None:
        body["tags"] = tags
    return body


def _connected(target: Target, console: Console) -> Client:
    if target.serves_itself and running_in(target.data_dir) is None:
        running = start_detached(target)
        console.print(
            f"Started a service at {running.url} in {target.data_dir}; it stays in the background"
            ' until "stoker stop".',
            highlight=False,
            soft_wrap=True,
        )
    return connect(target)


def _deploy(
    console: Console, client: Client, name: str, body: dict[str, Any], sent: Bundle, *, wait: bool
) -> None:
    existing = find_stack(client, name)
    last = None
    if existing is None:
        _checked(
            lambda: client.call(ORCHESTRATION, "POST", "/stacks", {**body, "stack_name": name}),
            sent,
        )
    else:
        newest = last_events(client, existing, 1)
        last = newest[0].id if newest else None
        path = existing.path
        for handle in renew_handles(client, existing):
            console.print(
                f"{handle} keeps the failure of an earlier attempt: it is made anew, and with it"
                " the servers that report to it.",
                highlight=False,
                soft_wrap=True,
            )
        _checked(lambda: client.call(ORCHESTRATION, "PUT", path, body), sent)
    stack = the_stack(client, name)
    if not wait:
        console.print(f"{name}: {stack.state}; stoker status {name} --follow", highlight=False)
        return
    rollback = not body["disable_rollback"]
    ended = follow_or_leave(console, client, stack, last, rollback=rollback)
    if ended.status == "COMPLETE" and ended.action != "ROLLBACK":
        print_outputs(console, ended.outputs)
        return
    resources = resources_of(client, ended)
    print_failure(console, client, ended, resources, events_of(client, ended, last))
    sys.exit(FAILED)


def _checked(send: Callable[[], Any], sent: Bundle) -> None:
    """Send a request; what is wrong with the template is shown with lines of the user's files."""
    try:
        send()
    except Refused as refusal:
        if refusal.diagnostics:
            found = [finding_from_api(item, sent.place) for item in refusal.diagnostics]
            raise BadDocument(found, sent.texts()) from None
        if refusal.status == 400:
            raise BadInput(refusal.message) from None
        raise CommandFailed(refusal.message) from None
