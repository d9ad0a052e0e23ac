"""Imports of existing objects and releases, against a running service and its cloud."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Served

EMPTY = "heat_template_version: 2021-04-16\nresources: {}\n"


def _network(name: str, metadata: str = "{}") -> str:
    return f"""heat_template_version: 2021-04-16
resources:
  net:
    type: OS::Neutron::Net
    metadata: {metadata}
    properties: {{name: {name}}}
"""


def _id(service: Served, stack: str) -> str:
    found = json.loads(service.run("status", stack, "--json").output)
    (net,) = [each for each in found["resources"] if each["name"] == "net"]
    return str(net["physical_id"])


def test_object_is_released_and_imported(service: Served, tmp_path: Path) -> None:
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    first.write_text(_network("moving"))
    second.write_text(EMPTY)
    assert service.run("deploy", str(first)).exit_code == 0
    assert service.run("deploy", str(second)).exit_code == 0
    net = _id(service, "first")
    second.write_text(_network("moving"))
    taken = service.run("import", "second", f"net={net}", "--template", str(second))
    assert taken.exit_code == 2
    assert "release it there first: stoker forget first net" in taken.output

    released = service.run("forget", "first", "net")
    assert released.exit_code == 0
    assert f"released {net}; its object stays" in released.output
    assert "Remove net from your template, too." in released.output

    plan = service.run("plan", str(second), "--import", f"net={net}")
    assert plan.exit_code == 2
    assert f"< net  OS::Neutron::Net\n    imports {net}; its object stays as it is" in plan.output
    assert "second: 1 imported" in plan.output
    done = service.run("import", "second", f"net={net}", "--template", str(second))
    assert done.exit_code == 0, done.output
    assert _id(service, "second") == net
    assert service.run("plan", str(second)).output == "second: nothing changes\n"
    for stack in ("first", "second"):
        assert service.run("destroy", stack, "--yes").exit_code == 0


def test_difference_of_imported_object_is_shown(service: Served, tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text(_network("kept"))
    assert service.run("deploy", str(old)).exit_code == 0
    net = _id(service, "old")
    old.write_text(EMPTY)
    plan = service.run("plan", str(old), "--keep", "net")
    assert ". net  OS::Neutron::Net\n    it leaves the stack, and its object stays" in plan.output
    assert "old: 1 released" in plan.output
    assert service.run("deploy", str(old), "--keep", "net").exit_code == 0

    new.write_text(_network("other", f"{{stoker: {{import: {net}}}}}"))
    refused = service.run("deploy", str(new))
    assert refused.exit_code == 2
    assert f"{new}:6:18: error: resources.net.properties.name: the import of net" in refused.output
    assert 'name is "kept", and the template has "other" (write name: "kept"' in refused.output
    assert "there is no stack" in service.run("status", "new").output.lower()
    as_new = service.run("deploy", str(new), "--change-imported")
    assert (as_new.exit_code, "would be a new stack" in as_new.output) == (2, True)
    template = new.read_text()
    new.write_text(EMPTY)
    assert service.run("deploy", str(new)).exit_code == 0
    new.write_text(template)
    plan = service.run("plan", str(new), "--change-imported")
    assert f"~ net  OS::Neutron::Net  because of name  ({new}:6)\n    name: kept -> other" in (
        plan.output.replace('"', "")
    )
    changed = service.run("deploy", str(new), "--change-imported")
    assert changed.exit_code == 0, changed.output
    for stack in ("old", "new"):
        assert service.run("destroy", stack, "--yes").exit_code == 0


def test_failed_create_is_completed_with_own_template(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "pair.yaml"
    template.write_text(_network("spare"))
    assert service.run("deploy", str(template), "--name", "spare").exit_code == 0
    net = _id(service, "spare")
    assert service.run("forget", "spare", "net").exit_code == 0
    template.write_text(_network("spare") + "outputs: {id: {value: {get_resource: net}}}\n")
    assert service.run("deploy", str(template), "--name", "used").exit_code == 0
    used = service.run("forget", "used", "net")
    assert (used.exit_code, "the output id refers to net" in used.output) == (2, True)
    assert service.run("destroy", "used", "--yes").exit_code == 0
    template.write_text(_network("spare"))
    unknown = service.run("forget", "spare", "nett")
    assert unknown.exit_code == 2
    assert "spare has no resource nett in its template" in unknown.output
    nested = service.run("forget", "spare", "group/0")
    assert "stoker deploy TEMPLATE --keep group/0" in nested.output
    wrong = service.run("import", "spare", f"net={net}")
    assert wrong.exit_code == 2
    assert "the template has no resource net" in wrong.output
    done = service.run("import", "spare", f"net={net}", "--template", str(template))
    assert done.exit_code == 0, done.output
    assert service.run("destroy", "spare", "--yes").exit_code == 0
