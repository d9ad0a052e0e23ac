"""``stoker config check --online``: each fault of a cloud's set-up is named with its option."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from stoker.admin.reachability import problems_of
from stoker.config.loading import load
from tests.identity.fake_keystone import FakeKeystone

TEXT = """
[DEFAULT]
stack_user_domain_name = stacks
stack_domain_admin = admin
stack_domain_admin_password = domain-secret
heat_metadata_server_url = http://stoker:8000
[clients_heat]
url = http://stoker:8004
[keystone_authtoken]
auth_url = http://keystone:5000
username = stoker
password = service-secret
project_name = service
"""


def problems(tmp_path: Path, fake: FakeKeystone, text: str = TEXT) -> list[str]:
    file = tmp_path / "stoker.conf"
    file.write_text(text)
    return problems_of(load([file]), fake.transport())


def test_complete_set_up_has_no_problems(tmp_path: Path) -> None:
    assert problems(tmp_path, FakeKeystone()) == []


def without_service_user(fake: FakeKeystone) -> None:
    fake.passwords["stoker"] = "another"


def without_domain_admin(fake: FakeKeystone) -> None:
    fake.passwords["admin"] = "another"


def without_role(fake: FakeKeystone) -> None:
    fake.objects["roles"].clear()


def without_answer(fake: FakeKeystone) -> None:
    fake.status = 500


@pytest.mark.parametrize(
    ("damage", "option"),
    [
        (without_service_user, "[keystone_authtoken] password"),
        (without_domain_admin, "[DEFAULT] stack_domain_admin_password"),
        (without_role, "[DEFAULT] heat_stack_user_role"),
        (without_answer, "[keystone_authtoken] auth_url"),
    ],
)
def test_fault_of_the_identity_service_names_its_option(
    tmp_path: Path, damage: Callable[[FakeKeystone], None], option: str
) -> None:
    fake = FakeKeystone()
    damage(fake)
    [problem] = problems(tmp_path, fake)
    assert problem.startswith(option)


def test_missing_endpoints_are_named_with_the_command(tmp_path: Path) -> None:
    text = TEXT.replace("heat_metadata_server_url = http://stoker:8000", "")
    text += "region_name = elsewhere\n"
    [problem] = problems(tmp_path, FakeKeystone(), text)
    assert problem.startswith("[DEFAULT] heat_metadata_server_url")
    assert "openstack endpoint create cloudformation" in problem


def test_database_without_directory_is_named(tmp_path: Path) -> None:
    text = f"{TEXT}[database]\nconnection = sqlite:///{tmp_path}/missing/stoker.db\n"
    [problem] = problems(tmp_path, FakeKeystone(), text)
    assert problem.startswith("[database] connection")
    assert "does not exist" in problem
