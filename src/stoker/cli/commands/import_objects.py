"""``stoker import``: existing objects become resources of a stack."""

from __future__ import annotations

from contextlib import closing
from functools import partial

import click

from stoker.cli.arguments import completing
from stoker.cli.arguments import options as shared
from stoker.cli.arguments.files import bundle
from stoker.cli.arguments.locations import InputFile, Location
from stoker.cli.arguments.naming import the_stack
from stoker.cli.arguments.options import name_and_value
from stoker.cli.client.target import Target
from stoker.cli.console.console import console_beside
from stoker.cli.console.findings import DocumentError
from stoker.cli.deploy.deployment import Deployment
from stoker.cli.deploy.recorded import bundle_of, recorded_template
from stoker.cli.deploy.request import DeployRequest
from stoker.cli.deploy.run import run
from stoker.cli.local.service import connect


@click.command("import")
@click.argument("stack_name", metavar="STACK", shell_complete=completing.stacks)
@click.argument("objects", metavar="NAME=ID...", nargs=-1, required=True, callback=name_and_value)
@click.option(
    "--template",
    type=InputFile(),
    metavar="FILE",
    help="Template with the resources.  [default: the one of the stack]",
)
@click.option(
    "--change-imported",
    is_flag=True,
    help="Change the objects where they differ from the template.",
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask before something is changed for worse.")
@shared.as_json
@shared.wait
@shared.service
def command(
    stack_name: str,
    objects: dict[str, str],
    template: Location | None,
    change_imported: bool,
    yes: bool,
    as_json: bool,
    wait: bool,
    target: Target,
) -> None:
    """Make the existing object ID the resource NAME of STACK.

    Each object is compared with its resource in the template first. If all properties are the same,
    the stack owns the object from then on: it updates it, and deletes it with the stack. Otherwise
    the differences are shown, and nothing is changed. Parameters and environments of the last
    deployment are kept; "stoker deploy --import" has options for them.

    The template can declare the import instead: metadata: {stoker: {import: ID}}.

    \b
    Examples
      stoker import shop db_volume=8a2f5c1e-4d0b-4a53-9f2e-0f6f9f1d7c11 --template shop.yaml
      stoker import shop net=$NET subnet=$SUBNET --template shop.yaml --change-imported
    """
    console = console_beside(as_json=as_json)
    with closing(connect(target)) as client:
        if template is None:
            stack = the_stack(client, stack_name)
            sent = bundle_of(stack, recorded_template(client, stack))
        else:
            sent = bundle(template)
        if sent.missing:
            raise DocumentError(sent.missing, sent.texts())
        request = DeployRequest(
            stack_name,
            sent,
            {},
            existing=True,
            import_objects=objects,
            change_imported=change_imported,
        )
        start = partial(Deployment.of_template, request=request, settings={}, yes=yes)
        run(client, console, start, wait=wait, as_json=as_json)
