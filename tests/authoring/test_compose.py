"""``stoker convert`` of Compose files: the scripts of the servers start the same containers."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from stoker.cli.arguments.files import Bundle
from stoker.cli.authoring.conversion.compose import to_servers
from stoker.cli.authoring.conversion.losses import Converted
from stoker.cli.authoring.conversion.ports import port_of
from stoker.cli.authoring.conversion.writing import as_yaml
from stoker.cli.offline_template import OfflineTemplate
from stoker.sandbox.sandbox import Sandbox
from stoker.template.evaluate.static_analysis import RecordedReferences
from stoker.template.source.source import read

NASTY = 'it\'s "x" $HOME `id` \\ ${A}\nEND\n*'


@pytest.fixture(scope="module")
def helpers() -> Iterator[Sandbox]:
    sandbox = Sandbox(size=1)
    yield sandbox
    sandbox.close()


def converted(services: str) -> Converted:
    return to_servers(read(services).data)


def arguments(
    service: str, directory: Path, helpers: Sandbox, parameters: Mapping[str, str]
) -> list[str]:
    """Run the script of a service; return the arguments of its ``docker``."""
    made = converted(f"services: {{web: {service}}}").data
    offline = OfflineTemplate.of(Bundle(as_yaml(made), "template"), parameters, helpers)
    definition = offline.evaluation(None).definition("web", RecordedReferences())
    programs, output = directory / "bin", directory / "arguments"
    programs.mkdir()
    docker = programs / "docker"
    docker.write_text(f"#!/bin/sh\nprintf '%s\\0' \"$@\" > {output}\n")
    docker.chmod(0o755)
    script = definition.properties["user_data"]
    path = f"{programs}:/usr/bin:/bin"
    subprocess.run(["sh"], input=script, text=True, check=True, env={"PATH": path})
    return output.read_text().split("\0")[:-1]


def test_values_with_quotes_reach_the_container(tmp_path: Path, helpers: Sandbox) -> None:
    service = """{
        image: "i:${TAG:-1.2}",
        command: ["echo", "$A ${A}", "$$A", "a'b\\"c`d`\\\\"],
        environment: {VALUE: "<${A}>", LINES: "a\\nEND\\nb", dot.ted: "x", NONE: },
    }"""
    found = arguments(service, tmp_path, helpers, {"A": NASTY, "NONE": "", "TAG": ""})
    assert found[found.index("i:1.2") :] == [
        "i:1.2",
        "echo",
        f"{NASTY} {NASTY}",
        "$A",
        "a'b\"c`d`\\",
    ]
    given = [found[index + 1] for index, each in enumerate(found) if each == "--env"]
    assert given == [f"VALUE=<{NASTY}>", "LINES=a\nEND\nb", "dot.ted=x", "NONE="]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${A:-x}", "x"),
        ("${A-x}", "x"),
        ("${A:-x}${A:-y}", "xy"),
        ("${A:-${B}}", "b"),
        ("${A:-{}}", "{}"),
        ("${A:-a b'\"$$}", "a b'\"$"),
        ("${B:+y}", "y"),
        ("${A:+y}", ""),
        ("${B:?must be given}", "b"),
        ("$B$$B${B}", "b$Bb"),
        ("$1 $ $-", "$1 $ $-"),
        ("${PATH}", "p"),
    ],
)
def test_operators_of_variables(text: str, expected: str, tmp_path: Path, helpers: Sandbox) -> None:
    quoted = text.replace('"', '\\"')
    given = {"A": "", "B": "b", "PATH": "p"}
    used = {name: value for name, value in given.items() if name in text.replace("$$B", "")}
    if "A:-x}" in text or "A-x" in text:
        del used["A"]
    found = arguments(f'{{image: i, command: ["{quoted}"]}}', tmp_path, helpers, used)
    assert found[-1] == expected


def test_entrypoint_and_health_check_keep_their_words(tmp_path: Path, helpers: Sandbox) -> None:
    service = """{
        image: i,
        entrypoint: ["/bin/sh", "-c", "exec $$0"],
        command: "echo 'a b' ${X:-c d}",
        healthcheck: {test: ["CMD", "curl", "http://x/a b"], start_period: 5s},
    }"""
    found = arguments(service, tmp_path, helpers, {})
    assert found[found.index("i") :] == ["i", "-c", "exec $0", "echo", "a b", "c d"]
    assert found[found.index("--entrypoint") + 1] == "/bin/sh"
    assert found[found.index("--health-cmd") + 1] == "curl 'http://x/a b'"
    assert found[found.index("--health-start-period") + 1] == "5s"


@pytest.mark.parametrize(
    ("written", "option", "address"),
    [
        ("80", "80:80/tcp", ""),
        (80, "80:80/tcp", ""),
        ("8080:80/udp", "8080:80/udp", ""),
        ("3000-3005:4000-4005", "3000-3005:4000-4005/tcp", ""),
        ("0.0.0.0:80:80", "80:80/tcp", ""),
        ("[::]:80:80", "80:80/tcp", ""),
        ("127.0.0.1:80:81", "127.0.0.1:80:81/tcp", "127.0.0.1"),
        ("[::1]:80:81/sctp", "[::1]:80:81/sctp", "[::1]"),
        ("10.0.0.9:80:81", "80:81/tcp", "10.0.0.9"),
        ("${PORT:-80}:81", "${PORT:-80}:81/tcp", ""),
        ({"target": 80, "published": "8443", "host_ip": "127.0.0.1"}, "127.0.0.1:8443:80/tcp",
         "127.0.0.1"),
        ("127.0.0.1::80", None, None),
        ("${HOST}x:80", None, None),
    ],
)  # fmt: skip
def test_ports(written: Any, option: str | None, address: str | None) -> None:
    port = port_of(written)
    found = (None, None) if port is None else (port.option, port.address)
    assert found == (option, address)


def test_local_ports_are_closed_for_others() -> None:
    made = converted('services: {db: {image: i, ports: ["127.0.0.1:5432:5432"]}}').data
    rules = made["resources"]["db_security_group"]["properties"]["rules"]
    assert [rule["remote_ip_prefix"] for rule in rules] == ["10.0.0.0/24"]
    assert "db_floating_ip" not in made["resources"]


def test_variable_port_is_a_parameter_of_the_rule() -> None:
    made = converted('services: {db: {image: i, ports: ["${PORT:-80}:80"]}}').data
    (rule, _) = made["resources"]["db_security_group"]["properties"]["rules"]
    assert rule["port_range_min"] == {"get_param": "PORT"}
    assert made["parameters"]["PORT"]["default"] == "80"


def test_names_and_ranges_do_not_collide(helpers: Sandbox) -> None:
    made = converted("""
        services:
          image: {image: "a:${image}", networks: [a, b]}
          web-1: {image: b, ports: ["80:80"]}
          web_1: {image: c, ports: ["80:80"]}
          router: {image: d, depends_on: [image]}
        networks: {b: {ipam: {config: [{subnet: 10.0.0.0/15}]}}}
        """).data
    servers = [each for each in made["resources"].values() if each["type"] == "OS::Nova::Server"]
    subnets = [each for each in made["resources"].values() if each["type"] == "OS::Neutron::Subnet"]
    assert len(servers) == 4
    assert [each["properties"]["cidr"] for each in subnets] == [
        "10.2.0.0/24", "10.0.0.0/15", "10.2.1.0/24",
    ]  # fmt: skip
    assert made["parameters"].keys().isdisjoint(made["resources"])
    bundle = Bundle(as_yaml(made), "template")
    offline = OfflineTemplate.of(bundle, {"image_variable": "x"}, helpers)
    assert list(offline.structure) == []
    assert len(offline.evaluation(None).names) == len(made["resources"])


@pytest.mark.parametrize("value", ["x", "5", "true", "[[]]", "[{}]", "[null]", "{a: {b: c}}"])
@pytest.mark.parametrize(
    "key",
    ["image", "command", "entrypoint", "environment", "ports", "volumes", "networks", "depends_on",
     "labels", "deploy", "healthcheck", "restart", "dns", "tmpfs"],
)  # fmt: skip
def test_wrong_shapes_are_reported_or_ignored(key: str, value: str) -> None:
    for document in (
        f"services: {{a: {{image: i, {key}: {value}}}, b: {{image: i}}}}",
        f"{{services: {{a: {{image: i}}}}, {key}: {value}}}",
        f"{{services: {{a: {{image: i, volumes: ['n:/v']}}}}, {key}: {{n: {value}}}}}",
        f"{{services: {{a: {{image: i, networks: [n]}}}}, networks: {{n: {{ipam: {value}}}}}}}",
    ):
        assert as_yaml(converted(document).data)
