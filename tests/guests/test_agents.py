"""heat-cfntools, os-collect-config and the hooks of heat-agents, unmodified, in real servers."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import pytest

from tests.guests.stacks import Stacks
from tests.recovery.service import until

pytestmark = pytest.mark.long


def test_server_configures_itself_from_metadata_and_changes(
    agents: Stacks,
) -> None:
    example = "examples/cfn-init.yaml"
    url = agents.deploy(example, "init", title="First")["url"]

    def page(name: str = "") -> str:
        with urllib.request.urlopen(url + name) as answer:
            text: str = answer.read().decode()
        return text

    assert "<h1>First</h1>" in page()
    log = agents.inside("init", "cat /var/log/cfn-init.log")
    assert "01_count has been successfully executed" in log
    assert "Starting service hello" in log
    agents.deploy(example, "init", title="Second")
    until(lambda: "<h1>Second</h1>" in page(), f"cfn-hup has seen it: {agents.logs('init')}", 60)
    assert page("history.txt").count("configured at") == 2
    agents.destroy("init")


@pytest.mark.parametrize(
    ("transport", "signal_transport"),
    [
        ("POLL_SERVER_CFN", "CFN_SIGNAL"),
        ("POLL_SERVER_HEAT", "HEAT_SIGNAL"),
        ("POLL_TEMP_URL", "TEMP_URL_SIGNAL"),
        ("ZAQAR_MESSAGE", "CFN_SIGNAL"),
    ],
)
def test_software_is_deployed_repeatedly_to_same_server(
    agents: Stacks, transport: str, signal_transport: str
) -> None:
    example, name = "examples/software-deployment.yaml", transport.lower().replace("_", "-")
    chosen = {"transport": transport, "signal_transport": signal_transport}
    first = agents.deploy(example, name, **chosen)
    server = first["written"].split()[-1]
    assert first == {
        "written": f"Hello from {server}\n",
        "stdout": "wrote 1 lines\n",
        "stderr": "this is standard error\n",
        "status_code": 0,
        "lines": "1",
    }
    second = agents.deploy(example, name, greeting="Again", **chosen)
    assert second["written"] == f"Hello from {server}\nAgain from {server}\n"
    assert (second["stdout"], second["lines"]) == ("wrote 2 lines\n", "2")
    agents.destroy(name)


def deployment(config: str, *after: str, **more: object) -> dict[str, object]:
    properties = {"config": {"get_resource": config}, "server": {"get_resource": "server"}, **more}
    found = {"type": "OS::Heat::SoftwareDeployment", "properties": properties}
    return {**found, "depends_on": list(after)} if after else found


def config(group: str, text: object, kind: str = "Software") -> dict[str, object]:
    properties = {"group": group, "config": text}
    return {"type": f"OS::Heat::{kind}Config", "properties": properties}


SERVER = {
    "network": {"type": "OS::Neutron::Net"},
    "subnet": {
        "type": "OS::Neutron::Subnet",
        "properties": {"network": {"get_resource": "network"}, "cidr": "10.0.0.0/24"},
    },
    "server": {
        "type": "OS::Nova::Server",
        "properties": {
            "image": "agents",
            "flavor": "m1.tiny",
            "networks": [{"subnet": {"get_resource": "subnet"}}],
            "user_data_format": "SOFTWARE_CONFIG",
        },
    },
}
TEMPLATES = "/usr/libexec/os-apply-config/templates"
APPLIED = {
    **SERVER,
    "template": config(
        "script",
        f"#!/bin/sh\nmkdir -p {TEMPLATES}/etc\necho 'text: {{{{text}}}}' > {TEMPLATES}/etc/t",
    ),
    "values": config("os-apply-config", {"text": "from the stack"}, "Structured"),
    "apply": config("apply-config", ""),
    "read": config("script", "#!/bin/sh\ncat /etc/t"),
    "placed": deployment("template"),
    "given": {
        "type": "OS::Heat::StructuredDeployment",
        "properties": {
            "config": {"get_resource": "values"},
            "server": {"get_resource": "server"},
            "signal_transport": "NO_SIGNAL",
        },
    },
    "applied": deployment("apply", "placed", "given"),
    "shown": deployment("read", "applied"),
}
BROKEN = {
    **SERVER,
    "script": config("script", "#!/bin/sh\necho tried\necho 'no disk' >&2\nexit 7"),
    "broken": deployment("script"),
}


def write(path: Path, resources: dict[str, object], **outputs: object) -> Path:
    shown = {name: {"value": value} for name, value in outputs.items()}
    template = {
        "heat_template_version": "2018-08-31",
        "resources": resources,
        "outputs": shown,
    }
    path.write_text(json.dumps(template))
    return path


def test_files_are_written_from_values_of_the_stack(agents: Stacks, tmp_path: Path) -> None:
    value = {"get_attr": ["shown", "deploy_stdout"]}
    template = write(tmp_path / "applied.json", APPLIED, text=value)
    assert agents.deploy(template, "applied") == {"text": "text: from the stack\n"}
    agents.destroy("applied")


def test_a_server_reports_to_a_queue(agents: Stacks, tmp_path: Path) -> None:
    report = Path("examples/software-deployment/report.py").resolve()
    script = config("script", {"get_file": report.as_uri()})
    said = {"get_attr": ["reporting", "deploy_stdout"]}
    for action, greeting in (("CREATE", "Hello"), ("UPDATE", "Again")):
        reporting = deployment(
            "script", signal_transport="ZAQAR_SIGNAL", input_values={"greeting": greeting}
        )
        resources = {**SERVER, "script": script, "reporting": reporting}
        template = write(tmp_path / "queued.json", resources, said=said)
        assert agents.deploy(template, "queued") == {"said": f"{action} {greeting}"}
    agents.destroy("queued")


def test_failing_script_fails_stack_with_its_output(agents: Stacks, tmp_path: Path) -> None:
    said = {name: {"get_attr": ["broken", f"deploy_{name}"]} for name in ("stdout", "stderr")}
    template = write(tmp_path / "broken.json", BROKEN, **said)
    done = agents.try_to_deploy(template, "broken")
    assert done.returncode == 1
    assert "status code: 7" in done.stdout
    assert agents.outputs("broken") == {"stdout": "tried\n", "stderr": "no disk\n"}
    agents.destroy("broken")


def test_measurement_in_server_raises_alarm_that_scales(agents: Stacks) -> None:
    told = json.loads((agents.data_dir / "serve.lock").read_text())
    if told["cloudwatch_port"] != 8003:
        pytest.skip("cfn-push-stats has the port 8003 in its code, and here it is taken")
    agents.deploy("examples/alarm.yaml", "alarm", period="10")

    def workers() -> int:
        return int(agents.outputs("alarm")["workers"])

    def said() -> str:
        return agents.inside("alarm/server", "tail -n 20 /var/log/report.log")

    assert workers() == 1
    agents.inside("alarm/server", "echo 50 > /srv/queue/length")
    until(lambda: workers() == 2, f"the group has grown: {said()}", 90)
    agents.inside("alarm/server", "echo 0 > /srv/queue/length")
    until(lambda: workers() == 1, f"the group has shrunk: {said()}", 90)
    agents.destroy("alarm")
