import stat
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet

from stoker.api.rest import settings as rest
from stoker.config.loading import load
from stoker.identity.settings import IdentitySettings, User, settings_from
from stoker.store.sql.keys import key_from_passphrase, keys_in

HEAT_CONF = """
[DEFAULT]
transport_url = rabbit://unknown-to-us
plugin_dirs = /a,/b
stack_user_domain_name = heat
stack_domain_admin = heat_domain_admin
stack_domain_admin_password = secret
heat_waitcondition_server_url = http://h:8000/v1/waitcondition
trusts_delegated_roles = heat_stack_owner
max_json_body_size = 2097152
[heat_api]
bind_port = 9004
[keystone_authtoken]
www_authenticate_uri = http://public:5000
auth_url = http://internal:5000
username = heat
password = pw
project_name = service
user_domain_name = Default
[trustee]
username = heat-trustee
password = pw2
[oslo_middleware]
enable_proxy_headers_parsing = true
[something_else]
a = b
"""


@pytest.fixture
def conf(tmp_path: Path) -> Any:
    path = tmp_path / "heat.conf"
    path.write_text(HEAT_CONF)
    return load([path])


def test_heat_conf_is_read_as_it_is(conf: Any) -> None:
    assert (conf.heat_api.bind_port, conf.heat_api_cfn.bind_port) == (9004, 8000)
    assert conf.plugin_dirs == ["/a", "/b"]
    assert settings_from(conf) == IdentitySettings(
        "http://internal:5000",
        User("heat", "pw", project_name="service"),
        trustee=User("heat-trustee", "pw2"),
        delegated_roles=("heat_stack_owner",),
        stack_domain_admin=User(
            "heat_domain_admin", "secret", domain_name="heat", scope_domain_name="heat"
        ),
        waitcondition_url="http://h:8000/v1/waitcondition",
    )


def test_rest_settings_come_from_the_same_file(conf: Any) -> None:
    found = rest.settings_from(conf)
    assert found.max_json_body_size == 2 * rest.MEBIBYTE
    assert found.identity_uri == "http://public:5000"
    assert found.behind_proxy


def test_missing_identity_service_is_said() -> None:
    with pytest.raises(ValueError, match="keystone_authtoken"):
        settings_from(load())


@pytest.mark.parametrize(
    "given", ["http://k:5000", "http://k:5000/", "http://k:5000/v3/", "http://k:5000/v2.0"]
)
def test_version_of_the_identity_api_is_added(given: str) -> None:
    assert IdentitySettings(given, User("u", "p")).api_url == "http://k:5000/v3"


def test_secrets_do_not_show_in_texts() -> None:
    assert "pw" not in repr(User("u", "pw"))


def test_key_is_generated_once_and_private(tmp_path: Path) -> None:
    (key,) = keys_in(tmp_path / "new")
    assert keys_in(tmp_path / "new") == [key]
    Fernet(key)
    (path,) = (tmp_path / "new").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_passphrase_of_any_length_makes_a_key() -> None:
    Fernet(key_from_passphrase("x"))
    assert key_from_passphrase("x") != key_from_passphrase("y")
