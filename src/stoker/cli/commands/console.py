"""``stoker console``: evaluates expressions of the template language."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager

import click

from stoker.cli.arguments import options as shared
from stoker.cli.arguments.files import Bundle, bundle, with_environment_beside
from stoker.cli.arguments.locations import InputFile, Location, require_one_stdin
from stoker.cli.arguments.naming import the_stack
from stoker.cli.authoring.expressions.evaluator import (
    Evaluator,
    ExpressionError,
    evaluator_of_stack,
)
from stoker.cli.authoring.expressions.prompt import run_prompt, shown
from stoker.cli.client.target import Target
from stoker.cli.console.failures import CommandError, InputError
from stoker.cli.console.findings import DocumentError
from stoker.cli.local.service import connect
from stoker.cli.offline import finding_in
from stoker.cli.offline_template import OfflineTemplate
from stoker.kernel.diagnostics import DiagnosticError
from stoker.sandbox.sandbox import Sandbox

_EMPTY = "heat_template_version: 2021-04-16\n"


@click.command("console")
@click.argument("template", type=InputFile(), required=False)
@click.option(
    "--stack",
    metavar="STACK",
    shell_complete=shared.complete_stacks,
    help="Evaluate for this running stack, with its live attributes.",
)
@click.option(
    "-c",
    "--command",
    "expressions",
    multiple=True,
    metavar="EXPRESSION",
    help="Print the value of an expression, and end.",
)
@shared.environments
@shared.auto_environment
@shared.parameters
@shared.service
def command(
    template: Location | None,
    stack: str | None,
    expressions: tuple[str, ...],
    environments: tuple[Location, ...],
    auto_environment: bool,
    parameters: dict[str, str],
    target: Target,
) -> None:
    """Evaluate expressions against TEMPLATE and its environment, or a running stack.

    An expression is written as in a template, or is a place in it, such as
    "resources.server.properties". Without TEMPLATE and --stack, all functions of the newest version
    can be tried. Standard input that is no terminal has an expression a line.

    \b
    Examples
      stoker console app.yaml -P size=3
      stoker console app.yaml -e production.yaml -c outputs.url
      stoker console --stack web-app -c '{get_attr: [server, networks]}'
    """
    if template is not None and stack is not None:
        raise InputError("give a template or --stack, not both")
    require_one_stdin([*([template] if template else []), *environments])
    opened = (
        _of_stack(stack, target)
        if stack is not None
        else _of_template(template, environments, parameters, auto_environment=auto_environment)
    )
    with opened as evaluator:
        if not expressions and sys.stdin.isatty():
            run_prompt(evaluator, lambda value: click.echo(shown(value)))
            return
        for text in expressions or filter(str.strip, sys.stdin):
            try:
                click.echo(shown(evaluator.value(text)))
            except ExpressionError as error:
                raise CommandError(f"{text.strip()}: {error}") from None


@contextmanager
def _of_template(
    template: Location | None,
    environments: tuple[Location, ...],
    parameters: Mapping[str, str],
    *,
    auto_environment: bool,
) -> Iterator[Evaluator]:
    helpers = Sandbox(size=1)
    try:
        if template is None:
            sent = Bundle(_EMPTY, "an empty template")
        else:
            used = (
                with_environment_beside(template, environments)
                if auto_environment
                else environments
            )
            sent = bundle(template, used)
        try:
            offline = OfflineTemplate.of(sent, parameters, helpers)
        except DiagnosticError as error:
            found = [finding_in(each, sent) for each in error.diagnostics]
            raise DocumentError(found, sent.texts()) from None
        yield Evaluator(offline)
    finally:
        helpers.close()


@contextmanager
def _of_stack(name: str, target: Target) -> Iterator[Evaluator]:
    helpers = Sandbox(size=1)
    try:
        with closing(connect(target)) as client:
            found = the_stack(client, name, outputs=False)
            yield evaluator_of_stack(client, found, helpers)
    finally:
        helpers.close()
