"""Questions before a deployment or a delete does harm, against a running service."""

from __future__ import annotations

import json
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from stoker.cli.client.client import Client
from stoker.cli.client.credentials import in_data_dir, in_environment
from stoker.cli.console.failures import InputError
from tests.cli.conftest import Served, stoker

SERVER = """heat_template_version: 2018-08-31
parameters:
  flavor: {type: string, default: m1.tiny}
  word: {type: string, default: one}
resources:
  server:
    type: OS::Nova::Server
    properties: {image: host, flavor: {get_param: flavor}, networks: [{network: private}]}
  value: {type: OS::Heat::Value, properties: {value: {get_param: word}}}
"""
DATA = """heat_template_version: 2018-08-31
resources:
  purged: {type: OS::Swift::Container, properties: {PurgeOnDelete: true}}
  filled: {type: OS::Swift::Container}
  volume: {type: OS::Cinder::Volume, properties: {size: 1}}
  saved: {type: OS::Cinder::Volume, deletion_policy: Snapshot, properties: {size: 1}}
  retained: {type: OS::Cinder::Volume, deletion_policy: Retain, properties: {size: 1}}
  zone: {type: OS::Designate::Zone, properties: {name: lost.example., email: a@lost.example}}
  stored: {type: OS::Barbican::Secret}
  written:
    type: OS::Barbican::Secret
    properties: {payload: word, payload_content_type: text/plain}
"""
VOLUME = """heat_template_version: 2018-08-31
parameters:
  size: {type: number, default: 1}
resources:
  volume: {type: OS::Cinder::Volume, properties: {size: {get_param: size}}}
"""
BROKEN = """
  broken: {type: OS::Heat::TestResource, properties: {fail: true}, depends_on: volume}
"""
NETWORK = """heat_template_version: 2018-08-31
resources:
  net: {type: OS::Neutron::Net, properties: {name: used-by-another}}
  subnet: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: 10.9.0.0/24}}
"""
PORT = """heat_template_version: 2018-08-31
resources:
  port: {type: OS::Neutron::Port, properties: {network: used-by-another}}
"""
NOTHING = "heat_template_version: 2018-08-31\nresources:\n  v: {type: OS::Heat::RandomString}\n"
LOST = ["purged", "stored", "volume", "zone"]


def deployed(service: Served, template: Path, text: str) -> None:
    template.write_text(text)
    done = service.run("deploy", str(template))
    assert done.exit_code == 0, done.output


def test_deploy_confirms_interruption_and_shows_plan(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "interrupted.yaml"
    deployed(service, template, SERVER)
    change = ("deploy", str(template), "-P", "flavor=m1.small", "-P", "word=two")
    planned = service.run("plan", *change[1:]).output
    assert service.run(*change).exit_code == 2
    asked = service.run(*change, text="n\n")
    assert asked.exit_code == 1
    tree, _, count = planned.rstrip().rpartition("\n")
    assert asked.output.startswith(f"{tree}\n{count}. Go ahead?")
    assert "1 of them interrupted" in count
    assert 'value: "one" -> "two"' in tree
    assert service.run(*change, "--yes").exit_code == 0
    assert service.run("destroy", "interrupted", "--yes").exit_code == 0


def test_data_loss_is_marked_and_confirmed_separately(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "data.yaml"
    deployed(service, template, DATA)
    template.write_text(NOTHING)
    lines = service.run("plan", str(template)).output.splitlines()
    marked = [before.split()[1] for before, line in pairwise(lines) if "data is" in line]
    assert sorted(marked) == LOST
    assert lines[-1] == "data: 1 added, 8 deleted, 4 of them with loss of data"
    for command in (("deploy", str(template)), ("destroy", "data")):
        refused = service.run(*command, text="y\nn\n")
        assert refused.exit_code == 1
        [sentence] = [line for line in refused.output.splitlines() if "cannot be restored" in line]
        assert all(name in sentence for name in LOST)
        assert "written" not in sentence
        assert "Delete the data?" in refused.output
        assert "CREATE_COMPLETE" in service.run("status", "data").output.splitlines()[0]
    assert service.run("deploy", str(template), text="y\ny\n").exit_code == 0
    harmless = service.run("destroy", "data", text="y\n")
    assert harmless.exit_code == 0
    assert "Delete the data?" not in harmless.output


def test_data_of_failed_volume_is_confirmed(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "failed.yaml"
    deployed(service, template, VOLUME)
    for options in ((), ("--yes",)):
        over_quota = service.run("deploy", str(template), "-P", "size=999999", *options)
        assert over_quota.exit_code == 1
        assert "warning: the plan needs 999998 GiB of volumes" in over_quota.output
    template.write_text(VOLUME.replace("{get_param: size}", "1, availability_zone: nova"))
    refused = service.run("deploy", str(template), text="y\nn\n")
    assert refused.exit_code == 1
    assert "The data of volume cannot be restored" in refused.output
    assert service.run("destroy", "failed", "--yes").exit_code == 0


def backup_of(service: Served, volume: str) -> str:
    """Make a backup of a volume; return its id."""
    credentials = in_data_dir(service.data_dir)
    assert credentials is not None
    with closing(Client(credentials)) as client:
        body = {"backup": {"volume_id": volume, "name": "earlier"}}
        made: str = client.call("block-storage", "POST", "/backups", body)["backup"]["id"]
        while client.get("block-storage", f"/backups/{made}")["backup"]["status"] != "available":
            time.sleep(0.05)
    return made


def test_overwritten_data_is_confirmed_separately(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "overwritten.yaml"
    deployed(service, template, VOLUME)
    [volume] = json.loads(service.run("status", "overwritten", "--json").output)["resources"]
    backup = backup_of(service, volume["physical_id"])
    template.write_text(VOLUME.replace("{get_param: size}", f"1, backup_id: {backup}"))
    planned = service.run("plan", str(template)).output
    assert "interrupted by backup_id: its contents are overwritten by the backup" in planned
    assert "its data is overwritten" in planned
    assert "1 updated, 1 of them interrupted, 1 of them with loss of data" in planned
    refused = service.run("deploy", str(template), text="y\nn\n")
    assert refused.exit_code == 1
    assert "The data of volume cannot be restored.\nOverwrite the data?" in refused.output
    assert service.run("deploy", str(template), text="y\ny\n").exit_code == 0
    assert service.run("destroy", "overwritten", "--yes").exit_code == 0


def test_destroy_warns_about_users_before_question(service: Served, tmp_path: Path) -> None:
    deployed(service, tmp_path / "used.yaml", NETWORK)
    deployed(service, tmp_path / "user.yaml", PORT)
    asked = service.run("destroy", "used", text="n\n")
    assert asked.exit_code == 1
    lines = asked.output.splitlines()
    warned = [n for n, line in enumerate(lines) if line.startswith("warning: net: ")]
    [question] = [n for n, line in enumerate(lines) if line.startswith("Delete used with")]
    assert warned
    assert max(warned) < question
    assert service.run("destroy", "user", "--yes").exit_code == 0
    assert service.run("destroy", "used", "--yes").exit_code == 0


def test_data_of_unfinished_stack_is_confirmed(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "unfinished.yaml"
    template.write_text(VOLUME + BROKEN)
    assert service.run("deploy", str(template)).exit_code == 1
    template.write_text(NOTHING)
    refused = service.run("deploy", str(template), text="y\nn\n")
    assert refused.exit_code == 1
    assert "The data of volume cannot be restored" in refused.output
    template.write_text(VOLUME)
    assert service.run("deploy", str(template)).exit_code == 0
    assert service.run("destroy", "unfinished", "--yes").exit_code == 0


def test_cloud_of_environment_is_named_in_questions(
    service: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = tmp_path / "elsewhere.yaml"
    deployed(service, template, NOTHING)
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(service.data_dir / "clouds.yaml"))
    monkeypatch.setenv("OS_CLOUD", "stoker")
    cloud = f"http://127.0.0.1:{service.cloud_port}/identity/v3 as demo/demo (OS_CLOUD=stoker)"
    found = stoker("destroy", "elsewhere", text="n\n")
    assert found.output.splitlines()[0] == f"On {cloud}"
    assert f"Delete elsewhere with its 1 resources, on {cloud}?" in found.output
    own = service.run("destroy", "elsewhere", "--yes")
    assert cloud not in own.output


def test_unknown_cloud_names_searched_files() -> None:
    with pytest.raises(InputError, match=r"none of /no/file, clouds\.yaml, .*exists"):
        in_environment({"OS_CLOUD": "nocloud", "OS_CLIENT_CONFIG_FILE": "/no/file"})
