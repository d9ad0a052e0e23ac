"""The Helm chart: rendered, and compared with the schemas of Kubernetes and with the command."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.project.test_deploy import accepted

CHART = Path(__file__).parents[2] / "deploy/helm/stoker"
RENDERER = Path(__file__).with_name("helm") / "render.go"
LIBRARIES = Path("/usr/share/gocode")
CONFIGURED = {
    "configuration": "[DEFAULT]\ndebug = true\n",
    "database": {"url": "postgresql+psycopg://stoker:x@db/stoker"},
}
Render = Callable[[dict[str, Any]], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def render(tmp_path_factory: pytest.TempPathFactory) -> Render:
    """Return a function that renders the chart with values."""
    if shutil.which("go") is None or not (LIBRARIES / "src/github.com/Masterminds/sprig").exists():
        pytest.skip(
            "Go is missing: apt install golang-go golang-github-masterminds-sprig-dev"
            " golang-gopkg-yaml.v3-dev"
        )
    folder = tmp_path_factory.mktemp("helm")
    program = folder / "render"
    go = {"GO111MODULE": "off", "GOPATH": str(LIBRARIES), "GOCACHE": str(folder / "cache")}
    command = ["go", "build", "-o", str(program), str(RENDERER)]
    subprocess.run(command, env={**os.environ, **go}, check=True)

    def rendered(values: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        file = folder / "values.yaml"
        file.write_text(yaml.safe_dump(values))
        command = [str(program), str(CHART), str(file)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return rendered


def objects(render: Render, values: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    done = render(values)
    assert done.returncode == 0, done.stderr
    found = [each for each in yaml.safe_load_all(done.stdout) if each]
    return {(each["kind"], each["metadata"]["name"]): each for each in found}


def test_default_values_fit_their_schema() -> None:
    schema = yaml.safe_load((CHART / "values.schema.json").read_text())
    jsonschema.validate(yaml.safe_load((CHART / "values.yaml").read_text()), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"database": {"url": "mysql://db/stoker"}}, schema)


@pytest.mark.long
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"ingress": {"enabled": True, "className": "nginx", "tlsSecret": "tls"}},
        {"existingConfiguration": "own", "database": {"existingSecret": "own", "url": ""}},
        {"imagePullSecrets": [{"name": "own"}], "nodeSelector": {"role": "control"}},
    ],
    ids=("default", "ingress", "existing", "nodes"),
)
def test_objects_fit_the_schemas_of_kubernetes(render: Render, more: dict[str, Any]) -> None:
    if find_spec("kubernetes_validate") is None:
        pytest.skip("the extra deploy is not installed: make test-packages installs it")
    validate = import_module("kubernetes_validate").validate
    found = objects(render, {**CONFIGURED, **more})
    assert ("Deployment", "test-stoker-api") in found
    for each in found.values():
        for version in ("1.30", "1.34"):
            validate(each, version, strict=True)


@pytest.mark.long
def test_containers_start_commands_that_exist(render: Render) -> None:
    found = objects(render, CONFIGURED)
    for component, port in (("api", 8004), ("engine", 8005)):
        pod = found["Deployment", f"test-stoker-{component}"]["spec"]["template"]["spec"]
        [container] = pod["containers"]
        assert (accepted(container["args"]).params["port"] or 8004) == port
        assert container["ports"][0] == {"name": "health", "containerPort": port}
        assert container["securityContext"]["readOnlyRootFilesystem"] is True


@pytest.mark.long
def test_secrets_are_made_or_named(render: Render) -> None:
    kinds = [kind for kind, _ in objects(render, CONFIGURED)]
    assert kinds.count("Secret") == 2
    own = {"existingConfiguration": "own", "database": {"existingSecret": "own"}}
    found = objects(render, own)
    assert [kind for kind, _ in found if kind == "Secret"] == []
    text = str(found["Deployment", "test-stoker-api"])
    assert text.count("'own'") == 2


@pytest.mark.long
def test_missing_configuration_is_named(render: Render) -> None:
    done = render({"database": CONFIGURED["database"]})
    assert done.returncode == 1
    assert "give configuration" in done.stderr
