"""``stoker plan``: the changes of a deployment, resource by resource."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import click
from msgspec.structs import asdict

from stoker.cli.arguments import options as shared
from stoker.cli.arguments.naming import the_stack
from stoker.cli.client.client import Client
from stoker.cli.client.retry import handles_to_renew
from stoker.cli.client.stacks import Stack, find_stack
from stoker.cli.client.target import Target
from stoker.cli.console.console import print_json
from stoker.cli.console.failures import FAILED, CommandError, InputError
from stoker.cli.deploy.plan import Plan, plan_of_delete, summary, tree
from stoker.cli.deploy.request import DeployArguments, stack_arguments
from stoker.cli.deploy.saved_plans import CREATE, DELETE, UPDATE, SavedPlan
from stoker.cli.local.service import connect

CHANGES = 2  # exit code when there are changes


class _Command(click.Command):
    """A command that ends with 1 for all that is wrong, as 2 has another meaning here."""

    def make_context(self, *arguments: Any, **more: Any) -> click.Context:
        """Read the arguments."""
        with _failing():
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _failing():
            return super().invoke(ctx)


@contextmanager
def _failing() -> Iterator[None]:
    try:
        yield
    except click.ClickException as error:
        error.show()
        sys.exit(FAILED)


@click.command("plan", cls=_Command)
@stack_arguments
@click.option("--destroy", is_flag=True, help="Plan the end of the stack that TEMPLATE names.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Save the plan; stoker deploy FILE carries out just that.",
)
@shared.as_json
@shared.service
def command(
    arguments: DeployArguments, destroy: bool, out: Path | None, as_json: bool, target: Target
) -> None:
    """Show the changes of "stoker deploy" with the same arguments. Changes nothing.

    Lists the change of each resource, also in nested stacks, with its reason and the values before
    and after, in the order of execution: + added, ~ updated, ± replaced, - deleted, ? not known
    yet. Equal members of a group share a line. Values of hidden parameters are masked.
    TEMPLATE may be a URL, or - for standard input.

    With --out the plan is saved, and "stoker deploy FILE" refuses to do anything else. The file
    holds the template and the values of all parameters: only you can read it.

    Exit code 0: nothing changes; 2: something does; 1: it cannot be planned.

    \b
    Examples
      stoker plan examples/web-app.yaml
      stoker plan examples/web-app.yaml -P title='Good morning' --out next.plan
      stoker plan --destroy web-app
    """
    with closing(connect(target)) as client:
        make_plan = _destroy if destroy else _deploy
        plan, saved = make_plan(client, arguments, fingerprint=out is not None)
        if out is not None and plan.changes:
            _require_savable(client, plan, saved).save(out)
    if as_json:
        data = {
            "stack": saved.stack_name,
            "action": saved.action,
            "changes": [change.as_data() for change in plan.changes],
            "quotas": [asdict(quota) for quota in plan.quotas],
            "warnings": plan.warnings,
        }
        print_json(data)
    else:
        if plan.changes:
            click.echo(tree(plan.changes))
        click.echo(f"{saved.stack_name}: {summary(plan.changes)}")
        for line in plan.warnings:
            click.echo(line)
        if out is not None and plan.changes:
            click.echo(f"Saved. To carry it out: stoker deploy {out}")
    sys.exit(CHANGES if plan.changes else 0)


def _deploy(
    client: Client, arguments: DeployArguments, *, fingerprint: bool
) -> tuple[Plan, SavedPlan]:
    """Return the plan of a deployment, and the file for it."""
    request = arguments.request()
    existing = find_stack(client, request.name)
    if existing is None:
        plan, stack_id = request.plan_of_new(client, fingerprint=fingerprint), None
        body = request.create_body()
    else:
        plan = request.plan(client, existing, fingerprint=fingerprint)
        stack_id = existing.id
        body = request.update_body()
    action = CREATE if existing is None else UPDATE
    return plan, _saved(action, request.name, stack_id, plan, body)


def _destroy(
    client: Client, arguments: DeployArguments, *, fingerprint: bool
) -> tuple[Plan, SavedPlan]:
    """Return the plan of the end of a stack, and the file for it."""
    if not arguments.is_template_alone:
        raise InputError("--destroy takes the name of a stack, and nothing else")
    stack = the_stack(client, str(arguments.template))
    plan = plan_of_delete(client, stack, fingerprint=fingerprint)
    return plan, _saved(DELETE, stack.name, stack.id, plan, {})


def _saved(
    action: str, name: str, stack_id: str | None, plan: Plan, body: dict[str, Any]
) -> SavedPlan:
    changes = tuple(change.as_data() for change in plan.changes)
    return SavedPlan(action, name, stack_id, plan.fingerprint or "", body, changes)


def _require_savable(client: Client, plan: Plan, saved: SavedPlan) -> SavedPlan:
    if plan.fingerprint is not None:
        return saved
    stack = the_stack(client, saved.stack_id or saved.stack_name)
    raise CommandError(f"the plan cannot be saved: {_why_not(client, stack)}")


def _why_not(client: Client, stack: Stack) -> str:
    if stack.status == "IN_PROGRESS":
        return f"{stack.name} is {stack.state}; wait for the end"
    handles = ", ".join(handle.name for handle in handles_to_renew(client, stack))
    if handles:
        return (
            f"{handles} of {stack.name} still holds the failure of an earlier attempt, and must be"
            " replaced first; stoker deploy TEMPLATE does that"
        )
    return "the service does not support plans: it is an older version, or not Stoker"
