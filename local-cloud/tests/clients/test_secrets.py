"""The key manager of a running cloud, as ``openstack secret`` and openstacksdk use it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("barbicanclient", reason="python-barbicanclient is not installed")
# The libraries warn of their own code; that is none of the cloud's business.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]
Run = Callable[..., list[Any]]


def test_the_command_stores_orders_and_joins_secrets(openstack: Run, tmp_path: Path) -> None:
    (stored, listed) = openstack(
        "secret store --name door --payload sesame --secret-type passphrase -f json",
        "secret list --name door",
    )
    href = stored["Secret href"]
    assert [row["Secret href"] for row in listed] == [href]
    assert listed[0]["Status"] == "ACTIVE"
    file = tmp_path / "payload"
    answers = openstack(
        f"secret get {href} --payload -f json",
        f"secret get {href} --file {file}",
        "secret store --name later -f json",
        f"acl user add --user somebody {href} -f json",
        f"acl get {href} -f json",
        f"secret container create --name box --secret door={href}",
        "secret container list",
        "secret order create key --name k --algorithm aes --bit-length 256 --mode cbc",
        "secret order list",
        f"secret delete {href}",
        "secret list",
    )
    assert answers[0] == {"Payload": "sesame"}
    assert file.read_text() == "sesame"
    assert answers[4][0]["Users"] == ["somebody"]
    (box,) = answers[6]
    assert (box["Type"], box["Secrets"]) == ("generic", f"door={href}")
    assert answers[8][0]["Type"] == "Key"
    assert href not in [row["Secret href"] for row in answers[10]]


def test_the_sdk_does_the_same(demo: Any) -> None:
    keys = demo.key_manager
    made = keys.create_secret(name="s", payload="open", payload_content_type="text/plain")
    found = keys.get_secret(made.secret_id)
    assert (found.payload, found.status) == ("open", "ACTIVE")
    refs = [{"name": "a", "secret_ref": made.secret_ref}]
    box = keys.create_container(name="b", type="generic", secret_refs=refs)
    assert box.container_ref in [each.container_ref for each in keys.containers()]
    keys.delete_container(box)
    keys.delete_secret(made)
