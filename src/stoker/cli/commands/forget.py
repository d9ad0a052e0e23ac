"""``stoker forget``: resources leave a stack, and their objects stay."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import Any

import click

from stoker.cli.arguments import completing
from stoker.cli.arguments import options as shared
from stoker.cli.arguments.naming import the_stack
from stoker.cli.client.stacks import Stack
from stoker.cli.client.target import Target
from stoker.cli.console.console import console_beside, say
from stoker.cli.console.failures import InputError
from stoker.cli.deploy.deployment import Deployment
from stoker.cli.deploy.recorded import bundle_of, recorded_template
from stoker.cli.deploy.request import DeployRequest
from stoker.cli.deploy.run import run
from stoker.cli.local.service import connect
from stoker.kernel.diagnostics import did_you_mean


@click.command("forget")
@click.argument("stack", metavar="STACK", shell_complete=completing.stacks)
@click.argument(
    "names", metavar="NAME...", nargs=-1, required=True, shell_complete=completing.resources
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask before other objects are deleted.")
@shared.as_json
@shared.wait
@shared.service
def command(
    stack: str, names: tuple[str, ...], yes: bool, as_json: bool, wait: bool, target: Target
) -> None:
    """Remove the resource NAME from STACK; its object stays in the cloud.

    Deploys the template that the stack has, without the resource, and prints the id of the object.
    Remove the resource from your file as well: the next deployment would create it again.
    "stoker import" brings the object into a stack.

    With a changed template, "stoker deploy TEMPLATE --keep NAME" does the same. That also releases
    resources in nested stacks, as --keep group/member.

    \b
    Examples
      stoker forget shop db_volume
    """
    console = console_beside(as_json=as_json)
    with closing(connect(target)) as client:
        found = the_stack(client, stack)
        template = _without(recorded_template(client, found), names, found)
        request = DeployRequest(
            found.name,
            bundle_of(found, template),
            {},
            existing=True,
            keep_objects=names,
        )
        start = partial(Deployment.of_template, request=request, settings={}, yes=yes)
        run(client, console, start, wait=wait, as_json=as_json)
    say(console, f"Remove {', '.join(names)} from your template, too.")


def _without(template: dict[str, Any], names: tuple[str, ...], stack: Stack) -> dict[str, Any]:
    """Return a template without some resources. Raises :class:`InputError` for unknown ones."""
    section = "resources" if "resources" in template else "Resources"
    resources = dict(template.get(section) or {})
    for name in names:
        if name in resources:
            del resources[name]
            continue
        if "/" in name:
            raise InputError(
                f"{name} is a resource of a nested stack: remove it from the nested template, and"
                f" run stoker deploy TEMPLATE --keep {name}"
            )
        near = did_you_mean(name, resources)
        raise InputError(
            f"{stack.name} has no resource {name} in its template" + (f"; {near}" if near else "")
        )
    outputs = template.get("outputs" if section == "resources" else "Outputs") or {}
    for output, body in outputs.items():
        if used := sorted(set(names) & set(_references(body))):
            raise InputError(
                f"the output {output} refers to {', '.join(used)}: remove both from the template,"
                f" and run stoker deploy TEMPLATE --keep {used[0]}"
            )
    return {**template, section: resources}


def _references(value: Any) -> Iterator[str]:
    """Yield the names of resources that functions in a value refer to."""
    if isinstance(value, list):
        for inner in value:
            yield from _references(inner)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key in ("get_resource", "Ref") and isinstance(inner, str):
                yield inner
            elif key in ("get_attr", "Fn::GetAtt"):
                first = inner.partition(".")[0] if isinstance(inner, str) else next(iter(inner), "")
                yield from [first] if isinstance(first, str) else _references(first)
            yield from _references(inner)
