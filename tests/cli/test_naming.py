"""Names and paths of stacks, resources and servers, and the answers to misspelt ones."""

from __future__ import annotations

from pathlib import Path

from stoker.cli.arguments.naming import candidates, paths_of
from stoker.cli.client.stacks import Resource, Stack
from tests.cli.conftest import Served

SERVER = """
    type: OS::Nova::Server
    properties: {image: host, flavor: m1.tiny, networks: [{network: private}]}
"""
INNER = f"heat_template_version: 2018-08-31\nresources:\n  server:{SERVER}"
OUTER = f"""heat_template_version: 2018-08-31
resources:
  one: {{type: inner.yaml}}
  two: {{type: inner.yaml}}
  jump:{SERVER}"""


def test_servers_in_nested_stacks_are_named_by_paths(service: Served, tmp_path: Path) -> None:
    (tmp_path / "inner.yaml").write_text(INNER)
    template = tmp_path / "paths.yaml"
    template.write_text(OUTER)
    done = service.run("deploy", str(template))
    assert done.exit_code == 0, done.output
    assert "CREATE_COMPLETE      one/server\n" in done.output
    assert service.run("logs", "paths", "one/server").exit_code == 0
    assert service.run("logs", "paths/two").exit_code == 0
    several = service.run("logs", "paths", "server").output
    lines = ["logs paths one/server", "logs paths two/server"]
    assert [line.strip().partition(" ")[2] for line in several.splitlines()[1:]] == lines
    wrong = service.run("logs", "paths", "one/serverr")
    assert wrong.exit_code == 2
    said = 'there is no server "one/serverr" in paths (did you mean "one/server"?)'
    assert wrong.output.splitlines() == [
        f"stoker: {said}; there are:",
        "  jump",
        "  one/server",
        "  two/server",
    ]
    assert '(did you mean "paths"?)' in service.run("status", "path").output
    assert '(did you mean "jump"?)' in service.run("why", "paths", "jum").output
    inside = service.run("why", "paths", "one/server").output
    assert inside.startswith("paths: CREATE_COMPLETE\n\n✓ one/server")
    assert service.run("destroy", "paths", "--yes").exit_code == 0


def test_long_list_is_cut_beside_suggestion() -> None:
    many = [f"web/{n}/server" for n in range(30)]
    assert candidates("web/3/serve", many) == ' (did you mean "web/3/server"?)'
    listed = candidates("nothing like it", many).splitlines()
    assert len(listed) == 22
    assert listed[-1] == "  and 10 more"


def test_paths_lead_to_stacks_nested_at_any_depth() -> None:
    def resource(name: str, stack: str, nested: str | None) -> Resource:
        return Resource(name, "T", "", "CREATE", "COMPLETE", "", stack, stack, nested, (), None, "")

    stack = Stack("top", "s", "CREATE", "COMPLETE", "", "", None)
    found = [
        resource("c", "two", "three"),
        resource("b", "one", "two"),
        resource("a", "top", "one"),
    ]
    assert paths_of(stack, found) == {
        "top": (),
        "one": ("a",),
        "two": ("a", "b"),
        "three": ("a", "b", "c"),
    }
