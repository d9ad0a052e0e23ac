"""Secrets are encrypted at rest, left out of logs, and hidden where they should be."""

from __future__ import annotations

import stat

from tests.isolation.people import demo
from tests.recovery.service import Service

SECRET = "correct-horse-battery-staple"
TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "parameters": {
        "password": {"type": "string", "hidden": True},
        "other": {"type": "string", "hidden": True},
    },
    "resources": {
        "config": {
            "type": "OS::Heat::SoftwareConfig",
            "properties": {
                "config": {
                    "str_replace": {
                        "template": "login PASSWORD OTHER",
                        "params": {
                            "PASSWORD": {"get_param": "password"},
                            "OTHER": {"get_param": "other"},
                        },
                    }
                }
            },
        },
        "handle": {"type": "OS::Heat::WaitConditionHandle"},
        "word": {"type": "OS::Heat::RandomString", "properties": {"length": 40}},
    },
    "outputs": {"word": {"value": {"get_attr": ["word", "value"]}}},
}


def test_secrets_are_in_no_database_log_or_answer(
    service: Service,
) -> None:
    owner = demo(service)
    given = {"environment": {"parameters": {"other": f"{SECRET}-2"}}}
    stack_id = owner.create("secrets", TEMPLATE, parameters={"password": SECRET}, **given)
    path = f"/stacks/secrets/{stack_id}"
    shown = owner.ask("GET", f"{path}/outputs/word").json()["output"]["output_value"]
    signal = owner.ask("POST", f"{path}/resources/handle/signal", {"data": f"{SECRET}-3"})
    assert signal.status_code == 200, signal.text

    for file in service.data_dir.glob("stoker.db*"):
        content = file.read_bytes()
        assert SECRET.encode() not in content, file
        assert shown.encode() not in content, file
        assert owner.token.encode() not in content, file
    log = service.log()
    assert SECRET not in log
    assert shown not in log
    assert owner.token not in log
    for below in ("", "/environment", "/template", "/resources", "/events"):
        answer = owner.ask("GET", path + below)
        assert answer.status_code == 200, answer.text
        assert SECRET not in answer.text, below
    assert SECRET not in owner.ask("GET", "/stacks/detail").text


def test_files_with_secrets_are_private(service: Service) -> None:
    names = ("stoker.db", "stoker.db-wal", "stoker.db-shm", "secret.key", "clouds.yaml", "openrc")
    for name in names:
        path = service.data_dir / name
        if path.exists():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, name
