"""The output of ``stoker takeover``, and its configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import sqlalchemy as sa
from msgspec import Struct
from rich.console import Console
from rich.progress import Progress as Bars

from stoker.cli.administered import administered_conf
from stoker.cli.console.console import say, table
from stoker.config.database import database_settings
from stoker.config.files import ConfigFiles
from stoker.kernel.clock import isoformat
from stoker.takeover.proof.report import ProofReport, State
from stoker.takeover.takeover import TakenStack, Takeover
from stoker.takeover.transfer import Progress

_STYLES = {State.READY: "green", State.REMARKS: "yellow", State.NOT_READY: "red"}


class Place(Struct, frozen=True):
    """The options that name the configuration and the database of Stoker."""

    config: ConfigFiles
    data_dir: Path
    database: str | None
    is_data_dir_named: bool


def takeover_of(place: Place) -> Takeover:
    """Return the take-over with a configuration.

    ``[database] connection`` of Heat's own file names Heat's database. Stoker's is then a file in
    the data directory, unless another one is named.
    """
    conf = administered_conf(
        place.config, place.data_dir, place.database, named=place.is_data_dir_named
    )
    if not place.database and _is_of_heat(conf.database.connection):
        conf.set_override("connection", None, "database")
    return Takeover(conf, database_settings(conf))


def _is_of_heat(url: str | None) -> bool:
    return bool(url) and sa.make_url(url or "").get_backend_name() in ("mysql", "mariadb")


@contextmanager
def progress_bar() -> Iterator[Callable[[Progress], None]]:
    """Show a bar on standard error for the block, if that is a terminal."""
    console = Console(stderr=True)
    with Bars(console=console, transient=True, disable=not console.is_terminal) as bars:
        bar = bars.add_task("stacks", total=None)

        def report(progress: Progress) -> None:
            bars.update(bar, total=progress.of_stacks, completed=progress.stacks)

        yield report


def transfer_data(done: Progress) -> dict[str, Any]:
    """Return the result of a pass as JSON data."""
    return {
        "stacks": done.stacks,
        "written": done.written,
        "unchanged": done.unchanged,
        "changed_here": list(done.changed_here),
        "resources": done.resources,
        "software_configs": done.configs,
        "software_deployments": done.deployments,
    }


def print_transfer(done: Progress) -> None:
    """Print the result of a pass."""
    click.echo(
        f"{done.written} stacks were copied with {done.resources} resources;"
        f" {done.unchanged} have not changed in Heat since the last pass."
    )
    for stack_id in done.changed_here:
        click.echo(f"{stack_id} has changed in Heat and here; it stays as it is here.")
    click.echo("Next: stoker takeover check.")


def status_data(taken: Sequence[TakenStack]) -> list[dict[str, Any]]:
    """Return the taken-over stacks as JSON data."""
    return [
        {
            "id": each.root.stack_id,
            "name": each.root.name,
            "project": each.root.project_id,
            "user_project": each.root.user_project_id,
            "resources": each.root.resources,
            "taken_at": isoformat(each.root.taken_at),
            "changed_here": each.is_changed,
        }
        for each in taken
    ]


def print_status(taken: Sequence[TakenStack]) -> None:
    """Print the taken-over stacks that have changed here since, and how many there are."""
    changed = [each.root for each in taken if each.is_changed]
    click.echo(f"{len(taken)} stacks were taken over; {len(changed)} have changed here since.")
    if changed:
        rows = [(root.name, root.stack_id, root.project_id) for root in changed]
        table(Console(), ("Stack", "ID", "Project"), rows)


def print_check(report: ProofReport) -> None:
    """Print the report of a check as a table, with the findings below."""
    console = Console()
    rows = [
        (each.name, each.stack_id, str(each.resources), each.state.value) for each in report.stacks
    ]
    styles = [_STYLES[each.state] for each in report.stacks]
    table(console, ("Stack", "ID", "Resources", "Result"), rows, styles)
    for each in report.stacks:
        for finding in each.findings:
            say(console, f"{each.name}: {finding.reason}", _STYLES[each.state])
            if finding.remedy:
                say(console, f"  {finding.remedy}", "dim")
    for finding in report.general:
        say(console, finding.reason, "yellow")
    named = ", ".join(f"{name} {count}" for name, count in sorted(report.named.items()))
    answers = f"{report.equal} of {report.answers} answers are equal"
    say(console, f"{answers}; {report.plans} plans; {report.objects} objects.")
    if named:
        say(console, f"Named differences: {named}.", "dim")
