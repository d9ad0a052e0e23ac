"""``stoker policy``: a sample of all rules, and checks of policy files."""

from __future__ import annotations

from pathlib import Path

import click

from stoker.admin.policy_files import allowed_by, findings_in, sample
from stoker.cli.arguments import options
from stoker.cli.console.console import print_json
from stoker.cli.console.failures import CommandError, InputError


@click.group("policy")
def command() -> None:
    """Print a sample of policies, or check a policy file.

    \b
    Examples
      stoker policy sample > /etc/heat/policy.yaml
      stoker policy check /etc/heat/policy.yaml --role reader
    """


@command.command("sample")
def print_sample() -> None:
    """Print a policy file with every rule, its requests, and its default, as comments.

    \b
    Examples
      stoker policy sample > /etc/heat/policy.yaml
    """
    click.echo(sample())


@command.command("check")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--role", "roles", multiple=True, help="Print what this role may do; repeatable.")
@options.as_json
def check(file: Path, roles: tuple[str, ...], as_json: bool) -> None:
    """Report errors in a policy file, in YAML or JSON.

    With --role, print the rules of the file that permit users with these roles in their own
    project.

    Exit code: 0 if nothing is wrong, 1 if something is, 2 if the file cannot be read.

    \b
    Examples
      stoker policy check /etc/heat/policy.yaml
      stoker policy check policy.yaml --role member --role load-balancer_member
    """
    try:
        findings = findings_in(file)
    except ValueError as error:
        raise InputError(str(error)) from None
    allowed = allowed_by(file, frozenset(roles)) if roles and not findings else []
    if as_json:
        print_json({"findings": findings, "allowed": allowed})
    else:
        for line in [*findings, *allowed]:
            click.echo(line)
    if findings:
        raise CommandError(f"{file}: {len(findings)} wrong")
    if not (roles or as_json):
        click.echo(f"{file}: nothing is wrong")
