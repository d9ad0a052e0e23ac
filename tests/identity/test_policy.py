import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from stoker.config.loading import load
from stoker.engine.model.requests import Caller
from stoker.identity.policy import Policies


def conf(tmp_path: Path, text: str = "") -> Any:
    path = tmp_path / "stoker.conf"
    path.write_text(text)
    return load([path])


@pytest.fixture
def policies(tmp_path: Path) -> Policies:
    return Policies(conf(tmp_path))


def caller(*roles: str) -> Caller:
    return Caller("p", "u", "n", frozenset(roles))


def allowed(policies: Policies, rule: str) -> set[str]:
    roles = ("admin", "member", "reader", "heat_stack_user", "other")
    return {role for role in roles if policies.allows(rule, caller(role))}


@pytest.mark.parametrize(
    ("rule", "roles"),
    [
        ("stacks:create", {"admin", "member"}),
        ("stacks:index", {"admin", "member", "reader"}),
        ("resource:signal", {"admin", "member", "heat_stack_user"}),
        ("resource:metadata", {"admin", "member", "reader", "heat_stack_user"}),
        ("stacks:global_index", set()),
        ("service:index", {"admin"}),
        ("resource_types:OS::Nova::Flavor", {"admin"}),
        ("resource_types:OS::Octavia::AvailabilityZone", {"admin"}),
        (
            "resource_types:OS::Heat::None",
            {"admin", "member", "reader", "heat_stack_user", "other"},
        ),
    ],
)
def test_defaults_distinguish_roles(policies: Policies, rule: str, roles: set[str]) -> None:
    assert allowed(policies, rule) == roles


def test_older_defaults_only_keep_stack_users_out(tmp_path: Path) -> None:
    policies = Policies(conf(tmp_path, "[oslo_policy]\nenforce_new_defaults = false\n"))
    assert allowed(policies, "stacks:create") == {"admin", "member", "reader", "other"}
    assert "heat_stack_user" in allowed(policies, "resource:signal")


def test_policy_file_wins_over_defaults(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(
        '"stacks:index": "role:other"\n"resource_types:OS::Heat::None": "!"\n'
    )
    text = f"[oslo_policy]\npolicy_file = {tmp_path}/rules.yaml\n"
    policies = Policies(conf(tmp_path, text))
    assert allowed(policies, "stacks:index") == {"other"}
    assert allowed(policies, "resource_types:OS::Heat::None") == set()


def test_json_policy_file_is_read_without_yaml_file(tmp_path: Path) -> None:
    rules = {"stacks:index": "role:other", "stacks:show": "rule:project_admin"}
    (tmp_path / "policy.json").write_text(json.dumps(rules))
    policies = Policies(conf(tmp_path))
    assert allowed(policies, "stacks:index") == {"other"}
    assert allowed(policies, "stacks:show") == {"admin"}


def test_reader_rules_with_scope_are_honoured(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(
        '"project_reader": "role:auditor and project_id:%(project_id)s"\n'
        '"stacks:index": "rule:project_reader or role:admin and system_scope:all"\n'
    )
    policies = Policies(conf(tmp_path))
    assert policies.allows("stacks:index", caller("auditor"))
    assert not policies.allows("stacks:index", caller("member"))
    assert not policies.allows("stacks:create", caller("auditor"))


@pytest.mark.parametrize(
    ("credentials", "is_admin"),
    [
        ({"roles": ["admin"], "is_admin_project": True}, True),
        ({"roles": ["admin"], "is_admin_project": False}, False),
        ({"roles": ["admin"], "is_admin_project": False, "system_scope": "all"}, True),
        ({"roles": ["member"], "is_admin_project": True}, False),
    ],
)
async def test_admin_context_follows_its_rule(
    policies: Policies, credentials: dict[str, Any], is_admin: bool
) -> None:
    assert await policies.is_admin(credentials) is is_admin


async def test_first_policy_check_loads_library_off_loop(
    tmp_path: Path,
) -> None:
    class Watched:
        """Options that record the threads that read them."""

        def __init__(self, options: Any) -> None:
            self.options = options
            self.readers: set[int] = set()

        def __getattr__(self, name: str) -> Any:
            self.readers.add(threading.get_ident())
            return getattr(self.options, name)

    watched = Watched(conf(tmp_path, ""))
    assert await Policies(watched).is_admin({"roles": ["admin"], "is_admin_project": True})
    assert watched.readers
    assert threading.get_ident() not in watched.readers


def test_a_changed_policy_file_counts_within_a_second(tmp_path: Path) -> None:
    now = [0.0]
    rules = tmp_path / "rules.yaml"
    rules.write_text('"stacks:index": "role:other"\n')
    settings = conf(tmp_path, f"[oslo_policy]\npolicy_file = {rules}\n")
    policies = Policies(settings, lambda: now[0])
    assert allowed(policies, "stacks:index") == {"other"}
    rules.write_text('"stacks:index": "role:member"\n')
    os.utime(rules, (10**9, 2 * 10**9))
    now[0] += 1.5
    assert allowed(policies, "stacks:index") == {"member"}
