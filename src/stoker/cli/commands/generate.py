"""``stoker generate``: a template of existing objects."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import click
import yaml

from stoker.cli.arguments import options as shared
from stoker.cli.client.client import parsed
from stoker.cli.client.stacks import ORCHESTRATION
from stoker.cli.client.target import Target
from stoker.cli.console.console import print_json
from stoker.cli.console.failures import InputError
from stoker.cli.local.service import connect

_NO_FOLDING = 1_000_000  # characters of a line
_NOTE = (
    "# Written by stoker generate. The metadata import the objects; each line can be removed\n"
    "# after the first deployment. User data, files and passwords are not readable, and missing.\n"
)


@click.command("generate")
@click.option(
    "--from",
    "roots",
    multiple=True,
    metavar="OBJECT",
    help="Name or id of an object; repeatable.  [default: all objects of the project]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the template into this file, which must not exist.  [default: standard output]",
)
@click.option(
    "--import/--no-import",
    "imports",
    default=True,
    show_default=True,
    help="Declare the import of each object, or write a template that creates copies.",
)
@shared.as_json
@shared.service
def command(
    roots: tuple[str, ...], out: Path | None, imports: bool, as_json: bool, target: Target
) -> None:
    """Write a template of objects that exist in the project.

    Covers networks, subnets, routers and their interfaces, security groups, ports, floating IPs,
    key pairs, volumes, servers, and attached volumes. With --from, the template has the named
    objects, those that they need, and those that belong to them: the ports, volumes and networks of
    a server, the subnets of a network.

    "stoker deploy" of the template imports the objects, and changes nothing. Read the template
    first: the stack will own all these objects, and its delete removes them.

    \b
    Examples
      stoker generate --from web > web.yaml
      stoker plan web.yaml; stoker deploy web.yaml
      stoker generate --no-import --out copy.yaml
    """
    with closing(connect(target)) as client:
        query = urlencode([("from", root) for root in roots])
        path = "/existing_template" + (f"?{query}" if query else "")
        answer = client.call(ORCHESTRATION, "GET", path)
    template = parsed(lambda found: dict(found["template"]), answer)
    if not imports:
        template["resources"] = _without_imports(template["resources"])
    if as_json:
        print_json(template)
        return
    text = (_NOTE if imports else "") + yaml.dump(
        template, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_NO_FOLDING
    )
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(f"{out} exists; choose another file") from None
    click.echo(f"{out}: {len(template['resources'])} resources")


def _without_imports(resources: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {
        name: {key: value for key, value in body.items() if key != "metadata"}
        for name, body in resources.items()
    }


_SHORT = ("get_resource", "get_param", "stoker", "import", "custom_constraint")


class _Dumper(yaml.SafeDumper):
    """Writes calls of functions and directives in one line."""


def _map(dumper: _Dumper, data: Mapping[str, Any]) -> yaml.Node:
    short = len(data) == 1 and next(iter(data)) in _SHORT
    return dumper.represent_mapping("tag:yaml.org,2002:map", data, flow_style=short)


_Dumper.add_representer(dict, _map)
