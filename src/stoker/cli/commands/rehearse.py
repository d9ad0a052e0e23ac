"""``stoker rehearse``: a create or update, tried in a local cloud that is removed afterwards."""

from __future__ import annotations

import sys
from contextlib import closing, nullcontext
from pathlib import Path

import click
from rich.console import Console

from stoker.cli.arguments import options as shared
from stoker.cli.arguments.data_dir import running_in
from stoker.cli.client.client import Client
from stoker.cli.client.target import Target
from stoker.cli.console.console import console_beside, print_json, say
from stoker.cli.console.failures import FAILED, InputError
from stoker.cli.deploy.request import DeployArguments, DeployRequest, stack_arguments
from stoker.cli.local.service import connect
from stoker.cli.rehearsal.operation import Deadline
from stoker.cli.rehearsal.rehearsal import Rehearsal, Result
from stoker.cli.rehearsal.report import Report
from stoker.cli.rehearsal.scenarios import DISTURBED, KILL, PLAIN, ROLLBACK, Scenario
from stoker.cli.rehearsal.stack_copy import StackCopy, copy_of
from stoker.cli.rehearsal.throwaway_cloud import throwaway_cloud
from stoker.kernel.values import replace

_ALL = "all"


@click.command("rehearse")
@stack_arguments
@click.option(
    "--disturb",
    "disturbances",
    type=click.Choice([*DISTURBED, _ALL]),
    multiple=True,
    help="Also with a cloud that is slow, rejects calls, or loses responses; repeatable.",
)
@click.option("--kill", is_flag=True, help="Also with a service that is killed at each step.")
@click.option(
    "--rollback/--no-rollback",
    default=True,
    show_default=True,
    help="Also with a failure at the end, and its rollback.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=30,
    show_default=True,
    metavar="MINUTES",
    help="Give up after this long.",
)
@click.option(
    "--junit",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a test case for each scenario.",
)
@shared.as_json
@shared.service
def command(
    arguments: DeployArguments,
    disturbances: tuple[str, ...],
    kill: bool,
    rollback: bool,
    timeout: float,
    junit: Path | None,
    as_json: bool,
    target: Target,
) -> None:
    """Try a deployment of TEMPLATE in a local cloud that is removed afterwards.

    Without --stack, creates the stack and deletes it. With --stack, copies that stack from the
    service (template, files, environment, parameters) into the throw-away cloud, and updates the
    copy to TEMPLATE. The stack itself and its cloud are only read. Images, flavors, networks and
    other objects that the template uses and does not create get substitutes.

    Reports whether the operation completes and how long it takes, which servers and addresses an
    update interrupts and for how long, and whether a rollback restores everything.

    Exit code 0: everything completes and restores; 1: something does not; 2: the template or other
    input is wrong.

    \b
    Examples
      stoker rehearse app.yaml
      stoker rehearse app.yaml -e production.yaml --stack shop
      stoker rehearse app.yaml --stack shop --disturb all --kill --junit rehearsal.xml
    """
    if arguments.import_objects:
        raise InputError(
            "--import cannot be rehearsed: its objects are not in the throw-away cloud"
        )
    console = console_beside(as_json=as_json)
    deadline = Deadline(timeout * 60)
    scenarios = _scenarios(disturbances, kill=kill, rollback=rollback)
    source = _source(arguments, target)
    with closing(source) if source is not None else nullcontext():
        request, copy = _stacks(arguments, source)
        say(console, f"Starting a throw-away cloud for {_described(request, copy)}")
        with throwaway_cloud() as cloud:
            rehearsal = Rehearsal(cloud, request, copy, source, deadline)
            rehearsal.prepare()
            results = [_run(rehearsal, each, console) for each in scenarios]
    report = Report(
        request.name, request.sent.origin, copy is not None, rehearsal.substitutes, results
    )
    if junit is not None:
        report.write_junit(junit)
    if as_json:
        print_json(report.as_data())
    else:
        report.print(console)
    if not report.passed:
        sys.exit(FAILED)


def _scenarios(disturbances: tuple[str, ...], *, kill: bool, rollback: bool) -> list[Scenario]:
    chosen = DISTURBED if _ALL in disturbances else dict.fromkeys(disturbances)
    disturbed = [DISTURBED[name] for name in chosen]
    return [PLAIN, *([ROLLBACK] if rollback else []), *disturbed, *([KILL] if kill else [])]


def _source(arguments: DeployArguments, target: Target) -> Client | None:
    """Return a client of the cloud after which substitutes are modelled, if there is one."""
    is_there = not target.serves_itself or running_in(target.data_dir) is not None
    return connect(target) if arguments.name or is_there else None


def _stacks(
    arguments: DeployArguments, source: Client | None
) -> tuple[DeployRequest, StackCopy | None]:
    """Return the desired stack, and the copy of the existing one."""
    request = arguments.request()
    if not arguments.name or source is None:
        return request, None
    copy = copy_of(source, arguments.name, request.values)
    declared = request.declared_parameters()
    values = {
        name: value
        for name, value in request.values.items()
        if name in declared or name not in copy.secrets
    }
    return replace(request, name=copy.name, values=values), copy


def _described(request: DeployRequest, copy: StackCopy | None) -> str:
    origin = request.sent.origin
    return f"an update of {copy.name} to {origin}" if copy else f"the create of {origin}"


def _run(rehearsal: Rehearsal, scenario: Scenario, console: Console) -> Result:
    say(console, f"{scenario.name}: {scenario.purpose}")
    return rehearsal.run(scenario)
