"""``stoker takeover``: takes over the stacks of a running Heat."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from stoker.cli.administered import telling_refusals
from stoker.cli.arguments import options
from stoker.cli.console.console import console_beside, print_json, say
from stoker.cli.console.failures import CommandError, InputError
from stoker.cli.takeover import (
    Place,
    print_check,
    print_status,
    print_transfer,
    progress_bar,
    status_data,
    takeover_of,
    transfer_data,
)
from stoker.config.files import ConfigFiles
from stoker.takeover.heat.trees import Selection
from stoker.takeover.proof.check import Scope
from stoker.takeover.proof.page import page_of
from stoker.takeover.proof.report import as_data
from stoker.takeover.transfer import Progress

_projects = click.option(
    "--project", "projects", metavar="ID", multiple=True, help="Stacks of this project; repeatable."
)


@click.group("takeover", invoke_without_command=True)
@click.option("--from", "source", metavar="URL", help="Database of Heat; it is only read.")
@_projects
@click.option("--with-deleted", is_flag=True, help="Deleted stacks that Heat has not purged, too.")
@click.option(
    "--wait",
    "waits",
    is_flag=True,
    help="Wait for operations in progress in Heat, instead of recording them as failed.",
)
@options.as_json
@options.data_dir
@options.config_files
@options.database
@click.pass_context
@telling_refusals
def command(
    context: click.Context,
    source: str | None,
    projects: tuple[str, ...],
    with_deleted: bool,
    waits: bool,
    as_json: bool,
    **place: Any,
) -> None:
    """Copy the stacks of a Heat into the database, each with its id; Heat is not touched.

    Run it again to continue after an interruption, or to copy later changes in Heat. Name Heat's
    configuration with --config-file: its auth_encryption_key decrypts the values. The service must
    not run meanwhile.

    \b
    Examples
      stoker takeover --from mysql+pymysql://heat:PASSWORD@db/heat --config-file /etc/heat/heat.conf
      stoker takeover check --config-file /etc/heat/heat.conf --heat http://heat:8004 --html t.html
      stoker takeover status
    """
    source_of_dir = context.get_parameter_source("data_dir")
    named = source_of_dir is not ParameterSource.DEFAULT
    context.obj = Place(**place, is_data_dir_named=named)
    if context.invoked_subcommand is not None:
        return
    if source is None:
        raise InputError("name the database of Heat with --from URL")
    takeover = takeover_of(context.obj)
    selection = Selection(projects, with_deleted)
    console = console_beside(as_json=True)
    if waits:
        takeover.wait_for_rest(
            source, selection, lambda busy: say(console, f"in progress in Heat: {', '.join(busy)}")
        )
    with progress_bar() as report:
        done: Progress = takeover.transfer(source, selection, report)
    if as_json:
        print_json(transfer_data(done))
    else:
        print_transfer(done)


def _with_place(subcommand: Callable[..., None]) -> Callable[..., None]:
    """Add the options of the place; they may also precede the subcommand."""

    @wraps(subcommand)
    def with_place(
        config: ConfigFiles, data_dir: Path, database: str | None, **others: Any
    ) -> None:
        context = click.get_current_context()
        above: Place = context.obj
        named = context.get_parameter_source("data_dir") is not ParameterSource.DEFAULT
        place = Place(
            config or above.config,
            data_dir if named else above.data_dir,
            database or above.database,
            named or above.is_data_dir_named,
        )
        subcommand(place, **others)

    return options.data_dir(options.config_files(options.database(with_place)))


@command.command("status")
@_projects
@options.as_json
@_with_place
@telling_refusals
def status(place: Place, projects: tuple[str, ...], as_json: bool) -> None:
    """List the stacks that were taken over, and those that have changed here since.

    Until a stack changes here, Heat can continue with it.

    \b
    Examples
      stoker takeover status
    """
    taken = takeover_of(place).status(projects)
    if as_json:
        print_json(status_data(taken))
    else:
        print_status(taken)


@command.command("check")
@click.option("--project", "project", metavar="ID", help="Stacks of this project.")
@click.option(
    "--answers",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Recorded answers of Heat to compare with.",
)
@click.option("--heat", "heat_url", metavar="URL", help="API of the running Heat to compare with.")
@click.option(
    "--token", envvar="OS_TOKEN", show_envvar=True, default="", help="Token for the running Heat."
)
@click.option("--offline", is_flag=True, help="Make no request to the cloud: compare answers only.")
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), help="Write the report as a page."
)
@options.as_json
@_with_place
@telling_refusals
def check(
    place: Place,
    project: str | None,
    offline: bool,
    html: Path | None,
    as_json: bool,
    **against: Any,
) -> None:
    """Prove that the stacks of a project are complete here; change nothing.

    Compares the answers of Heat's API with those of this service. Plans an update of each stack,
    which must change nothing. Looks for the objects of each stack in the cloud. Exit code 1 if a
    stack is not ready.

    \b
    Examples
      stoker takeover check --heat http://heat.example.org:8004 --token "$(openstack token issue
        -f value -c id)"
      stoker takeover check --answers answers.json --html report.html
    """
    takeover = takeover_of(place)
    if project is None:
        known = takeover.projects()
        if len(known) != 1:
            raise InputError(
                f"name one of the {len(known)} projects with --project: {', '.join(known[:5])}"
            )
        [project] = known
    scope = Scope(project, plans=not offline, objects=not offline, **against)
    console = console_beside(as_json=True)
    report = takeover.check(scope, lambda text: say(console, text, "dim"))
    if html is not None:
        html.write_text(page_of(report))
    if as_json:
        print_json(as_data(report))
    else:
        print_check(report)
    if not report.is_ready:
        raise CommandError("some stacks are not ready for the switch")
