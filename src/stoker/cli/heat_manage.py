"""``heat-manage``, for the scripts that call it: same arguments, same exit codes.

Commands without a meaning here print that, and succeed if there is nothing to do anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from stoker.admin.database import Administration
from stoker.cli.administered import administered_conf, telling_refusals
from stoker.cli.arguments import options
from stoker.cli.console.failures import CommandError
from stoker.cli.engines import engines_of, forget_dead_engines, print_engines
from stoker.config.database import DatabaseSettings, database_settings
from stoker.config.files import ConfigFiles, usual_files

_SECONDS: Mapping[str, int] = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}


class _Target(Struct, frozen=True):
    """The options before the subcommand."""

    config: ConfigFiles
    data_dir: Path
    database: str | None
    named: bool

    def settings(self) -> DatabaseSettings:
        config = self.config or usual_files()
        conf = administered_conf(config, self.data_dir, self.database, named=self.named)
        return database_settings(conf)

    def administration(self) -> Administration:
        return Administration(self.settings())


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="stoker", message="%(version)s")
@options.config_files
@options.data_dir
@options.database
@click.option("-d", "--debug/--nodebug", default=False, hidden=True)
@click.option("--log-file", "--logfile", hidden=True, metavar="PATH")
@click.option("--log-dir", "--logdir", hidden=True, metavar="DIR")
@click.pass_context
def main(
    context: click.Context,
    /,
    config: ConfigFiles,
    data_dir: Path,
    database: str | None,
    **_: Any,
) -> None:
    """Look after Stoker's database, with the arguments of Heat's heat-manage.

    Without --config-file, /etc/stoker/stoker.conf is read, or else /etc/heat/heat.conf. Run it as
    the user that the service runs as; all subcommands work while the service runs.
    """
    source = context.get_parameter_source("data_dir")
    named = source is not None and source.name != "DEFAULT"
    context.obj = _Target(config, data_dir, database, named)


@main.command("db_version")
@click.pass_obj
@telling_refusals
def db_version(target: _Target) -> None:
    """Print the revision of the database's schema."""
    click.echo(target.administration().revision() or "0")


@main.command("db_sync")
@click.argument("version", required=False)
@click.pass_obj
@telling_refusals
def db_sync(target: _Target, version: str | None) -> None:
    """Make the tables, or bring them up to date. There is no other VERSION than the newest."""
    revision = target.administration().upgrade()
    if version is not None:
        click.echo(f"The schema is of revision {revision}; {version} is ignored.", err=True)


@main.command("purge_deleted")
@click.option(
    "-g",
    "--granularity",
    type=click.Choice(list(_SECONDS)),
    default="days",
    show_default=True,
    help="Unit of the age.",
)
@click.option("-p", "--project-id", help="Stacks of this project only.")
@click.option("-b", "--batch_size", hidden=True, type=int, default=20)
@click.argument("age", type=int, default=90)
@click.pass_obj
@telling_refusals
def purge_deleted(
    target: _Target, granularity: str, project_id: str | None, age: int, **_: Any
) -> None:
    """Delete for good the stacks that were deleted AGE ago (90)."""
    if age < 0:
        raise CommandError("age should be a positive integer")
    gone = target.administration().purge(age * _SECONDS[granularity], project_id)
    click.echo(f"Purged {gone} deleted stacks.")


@main.group("service")
def service() -> None:
    """The engines."""


@service.command("list")
@click.pass_obj
@telling_refusals
def service_list(target: _Target) -> None:
    """List the engines, and which of them have reported lately."""
    print_engines(engines_of(target.settings()))


@service.command("clean")
@click.pass_obj
@telling_refusals
def service_clean(target: _Target) -> None:
    """Drop engines that are down from the list."""
    forget_dead_engines(target.settings())
    click.echo("Dead engines are removed.")


@main.command("reset_stack_status")
@click.argument("stack_id")
@click.pass_obj
@telling_refusals
def reset_stack_status(target: _Target, stack_id: str) -> None:
    """Set to FAILED all operations in progress of a stack and of its nested stacks.

    It is rarely needed: operations are resumed after a crash. A service that drives the stack stops
    doing so, and writes nothing more.
    """
    click.echo(
        "Warning: this ends operations as failed that the service may still carry out.", err=True
    )
    if not click.confirm("Continue?"):
        return
    done = target.administration().reset_status(stack_id)
    click.echo(f"{len(done)} stacks set to FAILED." if done else "Nothing is in progress.")


@main.command("resource_data_list")
@click.argument("resource_id")
@click.pass_obj
@telling_refusals
def resource_data_list(target: _Target, resource_id: str) -> None:
    """Print a resource type's data about its object, secrets included."""
    for key, value in target.administration().resource_data(resource_id).items():
        click.echo(f"{key:<16} {value!s:<64}".rstrip())


@main.command("update_params")
@click.option("-v", "--verbose-update-params", is_flag=True, hidden=True)
@click.argument("direction", type=click.Choice(["encrypt", "decrypt"]))
def update_params(direction: str, **_: Any) -> None:
    """Do nothing: stored values are always encrypted. A request to decrypt them fails."""
    if direction == "decrypt":
        raise CommandError("stored values are always encrypted and cannot be decrypted for good")
    click.echo("What is stored is always encrypted.")


@main.command("migrate_properties_data")
def migrate_properties_data() -> None:
    """Nothing: db_sync brings all data to its place."""
    click.echo("Nothing to migrate: db_sync brings all data to its place.")


@main.command("migrate_convergence_1")
@click.argument("stack_id")
def migrate_convergence_1(stack_id: str) -> None:
    """Do nothing: every stack has an engine that continues after a crash."""
    click.echo(f"Nothing to migrate: {stack_id} is driven by such an engine already.")
