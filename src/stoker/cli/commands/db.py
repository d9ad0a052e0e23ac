"""``stoker db``: the database of the service, and the keys that it is encrypted with."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import click

from stoker.admin.database import Administration
from stoker.cli.administered import administered
from stoker.cli.arguments import options
from stoker.cli.arguments.data_dir import DataDirLock, running_in
from stoker.cli.console.console import print_json
from stoker.cli.console.failures import FAILED, CommandError
from stoker.cli.deploy.confirmation import confirm
from stoker.config.database import DatabaseSettings

DAY = 86_400.0


@click.group("db")
def command() -> None:
    """Look after the database of a service, and the keys that it is encrypted with.

    All of these but copy can be done while the service runs. Run them as the user that the service
    runs as.

    \b
    Examples
      stoker db check
      stoker db backup /backup/stoker.db
      stoker db rotate-key && stoker db keys
    """


@command.command("upgrade")
@options.as_json
@administered
def upgrade(administration: Administration, as_json: bool, **_: Any) -> None:
    """Make the tables, or bring those of an earlier release up to date.

    The service does the same when it starts.

    \b
    Examples
      stoker db upgrade --config-file /etc/stoker/stoker.conf
    """
    revision = administration.upgrade()
    if as_json:
        print_json({"revision": revision})
    else:
        click.echo(f"The database has revision {revision}.")


@command.command("check")
@options.as_json
@administered
def check(administration: Administration, as_json: bool, **_: Any) -> None:
    """Check that the database is sound; change nothing. Exit code 1 if it is not.

    \b
    Examples
      stoker db check
    """
    faults = administration.faults()
    revision = None if faults else administration.revision()
    if as_json:
        print_json({"revision": revision, "faults": faults})
    if faults:
        raise CommandError("\n".join(faults))
    if not as_json:
        click.echo(f"The database is sound; it has revision {revision}.")


@command.command("backup")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@administered
def backup(administration: Administration, file: Path, **_: Any) -> None:
    """Copy the database to a file while it is in use.

    The key (secret.key in the data directory, or auth_encryption_key) is not in it: keep it
    elsewhere. A database in PostgreSQL is backed up with pg_dump.

    \b
    Examples
      stoker db backup /backup/stoker.db
    """
    administration.back_up(file)
    click.echo(f"{file} is a copy of the database, without the key.")


@command.command("copy")
@click.argument("target", metavar="URL")
@options.as_json
@administered
def copy(
    administration: Administration, data_dir: Path, target: str, as_json: bool, **_: Any
) -> None:
    """Copy the database into the one at URL, which must be empty: all of it, or nothing.

    The service must not run meanwhile. Encrypted values are copied as they are, with the same key
    (secret.key in the data directory, or auth_encryption_key).

    \b
    Examples
      stoker db copy postgresql+psycopg://stoker@db.example.org/stoker
      stoker db copy sqlite:////srv/stoker.db --database postgresql+psycopg://...
    """
    lock = DataDirLock(data_dir)
    if data_dir.is_dir():
        lock.acquire()
    try:
        rows = administration.copy(target)
    finally:
        lock.release()
    if as_json:
        print_json({"rows": rows})
    else:
        click.echo(f"Copied {rows} rows. Start the service with --database.")


@command.command("purge")
@click.option(
    "--older-than",
    "days",
    type=click.FloatRange(0),
    default=90,
    show_default=True,
    metavar="DAYS",
    help="Days since the stacks were deleted.",
)
@click.option("--project", metavar="ID", help="Stacks of this project only.")
@click.option(
    "--history",
    type=click.FloatRange(0),
    metavar="DAYS",
    help="Delete events and ended operations that are so old, too.",
)
@options.as_json
@administered
def purge(
    administration: Administration,
    days: float,
    project: str | None,
    history: float | None,
    as_json: bool,
    **_: Any,
) -> None:
    """Delete all rows of deleted stacks for good.

    The service does the same on its own, as purge_deleted_after and purge_history_after say.

    \b
    Examples
      stoker db purge --older-than 7
    """
    stacks = administration.purge(days * DAY, project)
    rows = None if history is None else administration.purge_history(history * DAY)
    if as_json:
        print_json({"stacks": stacks, "history": rows})
        return
    click.echo(f"Purged {stacks} deleted stacks.")
    if rows is not None:
        click.echo(f"Purged {rows} events and ended operations.")


@command.command("keys")
@options.as_json
@administered
def keys(administration: Administration, as_json: bool, **_: Any) -> None:
    """Show which keys encrypt stored values, and whether earlier ones can be removed.

    Exit code 1 while a value is encrypted with an earlier key.

    \b
    Examples
      stoker db keys
    """
    found = administration.keys()
    if as_json:
        print_json({"newest": found.newest, "texts": found.texts, "needed": list(found.earlier)})
        sys.exit(FAILED if found.earlier else 0)
    click.echo(f"{found.newest}  {found.texts.get(found.newest, 0)} texts  encrypts")
    for key, count in found.earlier.items():
        click.echo(f"{key}  {count} texts  still needed")
    if found.earlier:
        raise CommandError("earlier keys must stay: the service re-encrypts the rest while it runs")
    click.echo("Earlier keys may go.")


@command.command("rotate-key")
@click.option("--finish", is_flag=True, help="Re-encrypt everything before this command ends.")
@administered
def rotate_key(
    administration: Administration, data_dir: Path, finish: bool, database: DatabaseSettings
) -> None:
    """Encrypt with a new key from now on, and re-encrypt stored values in the background.

    The new key goes into secret.key in the data directory, before the earlier ones, which still
    decrypt. A running service uses it immediately and re-encrypts in the background; "stoker db
    keys" shows when that is done, "stoker db forget-keys" removes the earlier keys. Back the file
    up before and after.

    Keys that are named by auth_encryption_key are rotated in the configuration: the old one becomes
    previous_auth_encryption_key. Then send SIGHUP to the service (systemctl reload).

    \b
    Examples
      stoker db rotate-key
      stoker db rotate-key --finish
    """
    if database.key:
        raise CommandError(
            "auth_encryption_key names the key: put a new one there, and the one that is there now"
            " into previous_auth_encryption_key; then reload the service (SIGHUP)"
        )
    administration.add_key()
    _reload(data_dir)
    if finish:
        administration.reencrypt()
        click.echo("Everything is encrypted with a new key.")
    else:
        click.echo('There is a new key. "stoker db keys" shows what is left of the earlier ones.')


@command.command("forget-keys")
@click.option("--yes", is_flag=True, help="Do not ask.")
@administered
def forget_keys(administration: Administration, data_dir: Path, yes: bool, **_: Any) -> None:
    """Remove earlier keys from secret.key, once nothing is encrypted with them.

    Backups that were made before the rotation need the earlier keys still.

    \b
    Examples
      stoker db forget-keys --yes
    """
    if not yes:
        confirm("Backups of earlier times cannot be read without the earlier keys. Remove them?")
    click.echo(f"Removed {administration.drop_earlier_keys()} earlier keys.")
    _reload(data_dir)


def _reload(data_dir: Path) -> None:
    """Let a service that runs there read the keys again."""
    running = running_in(data_dir)
    if running is not None:
        os.kill(running.pid, signal.SIGHUP)
