"""Files that are sent with a template: files, nested templates, environments."""

from __future__ import annotations

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from stoker.cli.arguments.files import bundle
from stoker.cli.console.failures import InputError
from stoker.cli.console.findings import DocumentError

VERSION = "heat_template_version: 2018-08-31\n"


def write(directory: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_the_template_is_sent_as_it_was_written(tmp_path: Path) -> None:
    text = f"# a comment\n{VERSION}resources: {{}}\n"
    write(tmp_path, {"main.yaml": text})
    assert bundle(tmp_path / "main.yaml").template == text


def test_files_have_names_used_in_template(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "main.yaml": f"{VERSION}resources: {{a: {{x: {{get_file: ./scripts/a.sh}}}}}}",
            "scripts/a.sh": "echo a",
        },
    )
    assert bundle(tmp_path / "main.yaml").files == {"./scripts/a.sh": "echo a"}


def test_names_in_nested_templates_are_relative_to_these(tmp_path: Path) -> None:
    inner = f"{VERSION}resources: {{b: {{type: deep.yaml}}, c: {{get_file: ../top.txt}}}}"
    deep = f"{VERSION}resources: {{d: {{get_file: here.txt}}}}"
    write(
        tmp_path,
        {
            "main.yaml": f"{VERSION}resources: {{a: {{type: sub/inner.yaml}}}}",
            "sub/inner.yaml": inner,
            "sub/deep.yaml": deep,
            "sub/here.txt": "here",
            "top.txt": "top",
        },
    )
    assert bundle(tmp_path / "main.yaml").files == {
        "sub/inner.yaml": inner,
        "sub/deep.yaml": deep,
        "sub/here.txt": "here",
        "top.txt": "top",
    }


def test_templates_that_include_each_other_are_read_once(tmp_path: Path) -> None:
    text = f"{VERSION}resources: {{a: {{type: other.yaml}}}}"
    write(tmp_path, {"main.yaml": text, "other.yaml": text})
    assert list(bundle(tmp_path / "main.yaml").files) == ["other.yaml"]


def test_environment_types_resolve_beside_it_keeping_lines(tmp_path: Path) -> None:
    environment = "# types\nresource_registry:\n  My::Type: mine.yaml\n  Your::Type: Other::Type\n"
    write(
        tmp_path,
        {
            "main.yaml": f"{VERSION}resources: {{a: {{type: My::Type}}}}",
            "envs/types.yaml": environment,
            "envs/mine.yaml": VERSION,
        },
    )
    found = bundle(tmp_path / "main.yaml", [tmp_path / "envs" / "types.yaml"])
    assert found.environment_files == ("envs/types.yaml",)
    assert found.files["envs/mine.yaml"] == VERSION
    assert found.files["envs/types.yaml"] == environment.replace("mine.yaml", '"envs/mine.yaml"')


def test_environment_beside_template_is_sent_unchanged(tmp_path: Path) -> None:
    environment = "resource_registry: {My::Type: mine.yaml}\n"
    write(tmp_path, {"main.yaml": VERSION, "env.yaml": environment, "mine.yaml": VERSION})
    found = bundle(tmp_path / "main.yaml", [tmp_path / "env.yaml"])
    assert found.files == {"env.yaml": environment, "mine.yaml": VERSION}


def test_missing_files_are_reported_with_positions(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"main.yaml": f"{VERSION}resources:\n  a: {{get_file: x}}\n  b: {{type: y.yaml}}\n"},
    )
    missing = bundle(tmp_path / "main.yaml").missing
    assert [(finding.line, finding.column) for finding in missing] == [(3, 7), (4, 7)]
    assert str(tmp_path / "x") in missing[0].message


def test_missing_template_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        bundle(tmp_path / "nothing.yaml")


def test_binary_template_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "main.yaml").write_bytes("a\nb: Größe".encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8 text: line 2 has the byte 0xf6"):
        bundle(tmp_path / "main.yaml")


def test_broken_yaml_is_reported_with_line_and_column(tmp_path: Path) -> None:
    write(tmp_path, {"main.yaml": f"{VERSION}resources: [\n"})
    with pytest.raises(DocumentError) as caught:
        bundle(tmp_path / "main.yaml")
    assert caught.value.findings[0].line == 3


@pytest.mark.parametrize(
    "environment", ["[]", "text", "resource_registry: 7", "resource_registry: {base_url: 3}"]
)
def test_odd_environments_are_left_to_the_service(tmp_path: Path, environment: str) -> None:
    write(tmp_path, {"main.yaml": VERSION, "env.yaml": environment})
    found = bundle(tmp_path / "main.yaml", [tmp_path / "env.yaml"])
    assert found.files == {"env.yaml": environment}


def test_failed_fetch_is_reported_in_one_line(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{server.server_port}"
        write(tmp_path, {"main.yaml": f"{VERSION}resources: {{a: {{type: {here}/nowhere.yaml}}}}"})
        [answered] = bundle(tmp_path / "main.yaml").missing
        server.shutdown()
    [refused] = bundle(tmp_path / "main.yaml").missing
    told = f"{here}/nowhere.yaml cannot be fetched: "
    assert answered.message == f"{told}its server answers 404 File not found"
    assert refused.message == f"{told}Connection refused"


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_template_from_the_web_reads_no_local_files(tmp_path: Path, scheme: str) -> None:
    write(tmp_path, {"secret": "LOCAL SECRET", "own": "OWN"})
    web = tmp_path / "web"
    web.mkdir()
    reference = f"value: {{get_file: '{scheme}{tmp_path / 'secret'}'}}"
    beside = "value: {get_file: beside.txt}"
    inner = f"{VERSION}outputs: {{x: {{{reference}}}, y: {{{beside}}}}}"
    write(web, {"inner.yaml": inner, "beside.txt": "BESIDE"})
    handler = partial(SimpleHTTPRequestHandler, directory=str(web))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{server.server_port}"
        local = "outputs: {z: {value: {get_file: own}}}"
        main = f"{VERSION}resources: {{a: {{type: {here}/inner.yaml}}}}\n{local}"
        write(tmp_path, {"main.yaml": main})
        found = bundle(tmp_path / "main.yaml")
        server.shutdown()
    assert sorted(found.files.values()) == ["BESIDE", "OWN", inner]
    [missing] = found.missing
    assert "a document from the web can refer to files from the web alone" in missing.message
