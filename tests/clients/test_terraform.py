"""Terraform with its provider for AWS, unmodified, against a running service."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

PLUGINS = Path(os.environ.get("TERRAFORM_PLUGINS", "/usr/share/terraform/plugins"))
PROVIDER = "registry.terraform.io/hashicorp/aws"
TEMPLATE = """\
AWSTemplateFormatVersion: 2010-09-09
Parameters:
  Text: {Type: String}
Resources:
  One:  # as it was written, with this
    Type: OS::Heat::Value
    Properties: {value: !Join ["", [!Ref Text, "!"]]}
Outputs:
  Text:
    Value: !GetAtt One.value
    Export: {Name: terraform-text}
"""
FAILS = """\
AWSTemplateFormatVersion: 2010-09-09
Resources:
  Bad:
    Type: OS::Heat::TestResource
    Properties: {value: !ImportValue terraform-text, fail: %s}
"""


class Terraform:
    """A directory with a configuration, which Terraform keeps the state of."""

    def __init__(self, place: Path, keys: dict[str, str]) -> None:
        self._place = place
        provider = {
            "region": keys["region_name"],
            "access_key": keys["aws_access_key_id"],
            "secret_key": keys["aws_secret_access_key"],
            "endpoints": {"cloudformation": keys["endpoint_url"]},
            "skip_credentials_validation": True,
            "skip_metadata_api_check": True,
            "skip_region_validation": True,
            "skip_requesting_account_id": True,
        }
        (place / "provider.tf.json").write_text(json.dumps({"provider": {"aws": provider}}))
        (place / "rc").write_text(
            f'provider_installation {{\n  filesystem_mirror {{\n    path = "{PLUGINS}"\n  }}\n}}\n'
        )
        assert self.run("init")[0] == 0

    def write(self, **stacks: dict[str, Any]) -> None:
        """Return the desired stacks by name."""
        wanted = {
            name: {"name": f"tf-{name}", "on_failure": "ROLLBACK", **given}
            for name, given in stacks.items()
        }
        resources = {"resource": {"aws_cloudformation_stack": wanted}} if wanted else {}
        (self._place / "stacks.tf.json").write_text(json.dumps(resources))

    def run(self, *arguments: str) -> tuple[int, str]:
        """Return exit code and output."""
        environment = {**os.environ, "TF_CLI_CONFIG_FILE": str(self._place / "rc")}
        done = subprocess.run(
            ["terraform", f"-chdir={self._place}", *arguments, "-no-color"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**environment, "CHECKPOINT_DISABLE": "1"},
            text=True,
            timeout=300,
            check=False,
        )
        return done.returncode, done.stdout

    def stacks(self) -> dict[str, Any]:
        """Return the stacks in its state by name."""
        code, shown = self.run("show", "-json")
        assert code == 0, shown
        root = json.loads(shown)["values"]["root_module"]
        return {each["name"]: each["values"] for each in root["resources"]}


@pytest.mark.long
def test_terraform_makes_changes_and_deletes_stacks(tmp_path: Path, keys: dict[str, str]) -> None:
    if shutil.which("terraform") is None:
        pytest.skip("terraform is not installed")
    if not (PLUGINS / PROVIDER).is_dir():
        pytest.skip(f"Terraform's provider for AWS is not in {PLUGINS} (TERRAFORM_PLUGINS)")
    terraform = Terraform(tmp_path, keys)
    one = {"template_body": TEMPLATE, "parameters": {"Text": "a"}, "tags": {"team": "blue"}}
    terraform.write(one=one)
    code, printed = terraform.run("apply", "-auto-approve")
    assert code == 0, printed
    made = terraform.stacks()["one"]
    assert (made["outputs"], made["tags"]) == ({"Text": "a!"}, {"team": "blue"})
    code, printed = terraform.run("plan", "-detailed-exitcode")
    assert code == 0, printed  # nothing is to change

    changed = {**one, "parameters": {"Text": "b"}, "tags": {"team": "red", "more": "c"}}
    terraform.write(one=changed)
    code, printed = terraform.run("apply", "-auto-approve")
    assert code == 0, printed
    changed_stack = terraform.stacks()["one"]
    assert changed_stack["outputs"] == {"Text": "b!"}
    assert changed_stack["tags"] == {"team": "red", "more": "c"}
    assert changed_stack["id"] == made["id"]

    after = {"depends_on": ["aws_cloudformation_stack.one"]}
    terraform.write(one=changed, two={**after, "template_body": FAILS % "true"})
    code, printed = terraform.run("apply", "-auto-approve")
    assert code == 1
    assert "ROLLBACK_COMPLETE" in printed
    assert "Test Resource failed" in printed
    terraform.write(one=changed, two={**after, "template_body": FAILS % "false"})
    code, printed = terraform.run("apply", "-auto-approve")
    assert code == 0, printed

    # what others import cannot go, and stays known
    terraform.write(two={"template_body": FAILS % "false"})
    code, printed = terraform.run("apply", "-auto-approve")
    assert code == 1
    assert "in use by tf-two" in printed
    assert set(terraform.stacks()) == {"one", "two"}
    code, printed = terraform.run(
        "destroy", "-auto-approve", "-target=aws_cloudformation_stack.two"
    )
    assert code == 0, printed
    code, printed = terraform.run("destroy", "-auto-approve")
    assert code == 0, printed
