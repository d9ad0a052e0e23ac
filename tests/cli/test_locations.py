"""Templates, environments and values from the web, standard input, and beside the template."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from stoker.cli.arguments.documents import MAX_BYTES
from stoker.cli.arguments.files import bundle
from stoker.cli.console.failures import InputError
from stoker.cli.deploy.request import DeployArguments
from tests.cli.conftest import Served, free_port, stoker

VERSION = "heat_template_version: 2018-08-31\n"
WORD = f"""{VERSION}parameters:
  word: {{type: string}}
outputs:
  word: {{value: {{get_param: word}}}}
"""


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def web(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of a web server, and the directory of its files."""
    directory = tmp_path / "web"
    directory.mkdir()
    handler = partial(QuietHandler, directory=str(directory))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", directory
        server.shutdown()


def write(directory: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_files_of_web_template_are_relative_to_it(web: tuple[str, Path]) -> None:
    address, directory = web
    inner = f"{VERSION}outputs: {{o: {{value: {{get_file: ../top.txt}}}}}}"
    main = f"{VERSION}resources: {{a: {{type: sub/inner.yaml}}}}"
    write(directory, {"app/main.yaml": main, "app/sub/inner.yaml": inner, "app/top.txt": "top"})
    found = bundle(f"{address}/app/main.yaml")
    assert found.template == main
    assert found.files == {"sub/inner.yaml": inner, "top.txt": "top"}
    assert found.missing == ()
    assert found.place("top.txt") == f"{address}/app/top.txt"


def test_web_template_with_local_environment_keeps_both(
    web: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, directory = web
    write(directory, {"main.yaml": f"{VERSION}resources: {{a: {{type: one.yaml}}}}"})
    write(directory, {"one.yaml": f"{VERSION}# of the web\n"})
    write(tmp_path, {"one.yaml": f"{VERSION}# local\n"})
    write(tmp_path, {"env.yaml": "resource_registry: {My::Type: one.yaml}\n"})
    monkeypatch.chdir(tmp_path)
    found = bundle(f"{address}/main.yaml", [Path("env.yaml")])
    local = (tmp_path / "one.yaml").as_uri()
    assert found.files["one.yaml"].endswith("# of the web\n")
    assert found.files[local].endswith("# local\n")
    [name] = found.environment_files
    assert found.files[name] == f'resource_registry: {{My::Type: "{local}"}}\n'


def test_web_environment_types_are_relative_to_it(web: tuple[str, Path], tmp_path: Path) -> None:
    address, directory = web
    write(directory, {"e/env.yaml": "resource_registry: {My::Type: mine.yaml}\n"})
    write(directory, {"e/mine.yaml": VERSION})
    write(tmp_path, {"main.yaml": VERSION})
    found = bundle(tmp_path / "main.yaml", [f"{address}/e/env.yaml"])
    assert found.environment_files == (f"{address}/e/env.yaml",)
    assert found.files[f"{address}/e/mine.yaml"] == VERSION
    assert f'"{address}/e/mine.yaml"' in found.files[f"{address}/e/env.yaml"]


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_web_environment_reads_no_local_files(
    web: tuple[str, Path], tmp_path: Path, scheme: str
) -> None:
    address, directory = web
    write(tmp_path, {"main.yaml": VERSION, "secret.yaml": "LOCAL SECRET"})
    named = f"{scheme}{tmp_path / 'secret.yaml'}"
    write(directory, {"env.yaml": f"resource_registry: {{My::Type: '{named}'}}\n"})
    found = bundle(tmp_path / "main.yaml", [f"{address}/env.yaml"])
    assert "LOCAL SECRET" not in found.files.values()
    [missing] = found.missing
    assert "a document from the web can refer to files from the web alone" in missing.message


def test_large_web_template_is_refused(web: tuple[str, Path]) -> None:
    address, directory = web
    write(directory, {"large.yaml": "#" * (MAX_BYTES + 1)})
    with pytest.raises(InputError, match=f"larger than {MAX_BYTES} bytes"):
        bundle(f"{address}/large.yaml")


@pytest.mark.parametrize("command", ["validate", "deploy"])
def test_unreachable_template_is_bad_input(command: str) -> None:
    address = f"http://127.0.0.1:{free_port()}/a/x.yaml"
    refused = stoker(command, address)
    assert refused.exit_code == 2
    assert f"{address} cannot be fetched: Connection refused" in refused.output


def test_faults_of_web_template_name_its_address(web: tuple[str, Path]) -> None:
    address, directory = web
    write(directory, {"app.yaml": f"{VERSION}parametres: {{}}\n"})
    done = stoker("validate", f"{address}/app.yaml")
    assert done.exit_code == 2
    assert f"{address}/app.yaml:2:1: error: " in done.output


def test_stack_is_deployed_from_web_and_standard_input(
    service: Served, web: tuple[str, Path]
) -> None:
    address, directory = web
    write(directory, {"fetched.yaml": WORD})
    environment = "parameters: {word: piped}\n"
    done = service.run("deploy", f"{address}/fetched.yaml", "-e", "-", text=environment)
    assert done.exit_code == 0, done.output
    assert service.run("output", "fetched", "word").output == "piped\n"
    value = ("--parameter-file", "word=-")
    changed = service.run("deploy", f"{address}/fetched.yaml", *value, "--yes", text="typed")
    assert changed.exit_code == 0, changed.output
    assert service.run("output", "fetched", "word").output == "typed\n"
    assert service.run("destroy", "fetched", "--yes").exit_code == 0


def test_file_url_names_a_file(tmp_path: Path) -> None:
    write(tmp_path, {"my app.yaml": f"{VERSION}parametres: {{}}\n"})
    done = stoker("validate", (tmp_path / "my app.yaml").as_uri())
    assert done.exit_code == 2
    assert f"{tmp_path}/my app.yaml:2:1: error: " in done.output


def test_standard_input_is_one_document_only() -> None:
    for command in (("deploy", "--name", "x"), ("validate",)):
        refused = stoker(*command, "-", "-e", "-", text=VERSION)
        assert refused.exit_code == 2
        assert "only one document can be read from standard input" in refused.output


def given(template: Path, *environments: Path, **choices: bool) -> DeployArguments:
    others = {"converge": False, "existing": False, **choices}
    return DeployArguments(template, environments, {}, {}, None, **others)


def test_environment_beside_template_comes_first(tmp_path: Path) -> None:
    write(tmp_path, {"app.yaml": VERSION, "app.env.yaml": "{}", "other.yaml": "{}"})
    template, other = tmp_path / "app.yaml", tmp_path / "other.yaml"
    assert given(template).request().sent.environment_files == ("app.env.yaml",)
    both = ("app.env.yaml", "other.yaml")
    assert given(template, other).request().sent.environment_files == both


def test_named_environment_keeps_its_place(tmp_path: Path) -> None:
    write(tmp_path, {"app.yaml": VERSION, "app.env.yaml": "{}", "other.yaml": "{}"})
    request = given(
        tmp_path / "app.yaml", tmp_path / "other.yaml", tmp_path / "app.env.yaml"
    ).request()
    assert request.sent.environment_files == ("other.yaml", "app.env.yaml")


@pytest.mark.parametrize("choice", [{"auto_environment": False}, {"existing": True}])
def test_environment_beside_template_is_left_out(tmp_path: Path, choice: dict[str, bool]) -> None:
    write(tmp_path, {"app.yaml": VERSION, "app.env.yaml": "{}"})
    assert given(tmp_path / "app.yaml", **choice).request().sent.environment_files == ()


def test_unknown_parameter_beside_existing_ones_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"app.yaml": WORD})
    template = tmp_path / "app.yaml"
    good = DeployArguments(template, (), {"word": "x"}, {}, None, converge=False, existing=True)
    assert good.request().values == {"word": "x"}
    wrong = DeployArguments(template, (), {"wort": "x"}, {}, None, converge=False, existing=True)
    with pytest.raises(InputError, match=r'no parameter "wort" \(did you mean "word"\?\)'):
        wrong.request()


def test_environment_beside_template_is_named_in_output(
    service: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"beside.yaml": WORD, "beside.env.yaml": "parameters: {word: found}\n"})
    monkeypatch.chdir(tmp_path)
    said = "Using beside.env.yaml; --no-auto-environment leaves it out."
    done = service.run("deploy", "beside.yaml")
    assert done.exit_code == 0, done.output
    assert done.stderr.splitlines()[0] == said
    assert service.run("output", "beside", "word").output == "found\n"
    planned = service.run("plan", "beside.yaml", "--json", "-P", "word=typed")
    assert said in planned.stderr
    assert json.loads(planned.stdout)["changes"] == []
    assert said in stoker("validate", "beside.yaml").stderr
    refused = service.run("deploy", "beside.yaml", "--no-auto-environment")
    assert refused.exit_code == 2
    kept = service.run("deploy", "beside.yaml", "--existing", "--yes")
    assert kept.exit_code == 0, kept.output
    assert "beside.env.yaml is not used with --existing" in kept.stderr
    assert service.run("output", "beside", "word").output == "found\n"
    assert service.run("destroy", "beside", "--yes").exit_code == 0
