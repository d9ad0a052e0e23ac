"""Configuration files: how they are read and checked, and the contents of a sample."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stoker.cli import configuration
from stoker.cli.console.failures import CommandError
from stoker.cli.local.serve_options import ServeOptions
from stoker.cli.main import main
from stoker.clouds.credentials import ServiceAccess
from stoker.config.checking import Kind, remarks
from stoker.config.files import ConfigFiles, usual_files
from stoker.config.ignored import IGNORED
from stoker.config.loading import load
from stoker.config.options import GROUPS
from stoker.config.sample import sample
from stoker.identity.settings import settings_from
from stoker.resources.base.registry import Registry
from stoker.server.settings import endpoints_of, property_defaults_of

GOOD = """
[keystone_authtoken]
auth_url = http://identity:5000
username = stoker
password = pw
"""


def file_with(directory: Path, text: str, name: str = "heat.conf") -> Path:
    file = directory / name
    file.write_text(text)
    return file


def checked(*files: Path) -> Result:
    return CliRunner().invoke(main, ["config", "check", *map(str, files)])


def test_usual_credentials_of_heat_conf_are_accepted(tmp_path: Path) -> None:
    usual = f"{GOOD}auth_type = password\n[ec2authtoken]\nauth_type = v3password\nusername = u\n"
    files = [file_with(tmp_path, usual)]
    assert [(each.kind, each.option) for each in remarks(files)] == [
        (Kind.NO_EFFECT, "[ec2authtoken] username")
    ]
    assert checked(*files).exit_code == 0


def test_a_file_that_is_right_needs_nothing(tmp_path: Path) -> None:
    result = checked(file_with(tmp_path, GOOD))
    assert result.exit_code == 0
    assert "nothing to do" in result.output


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("max_template_size = big", 'the value "big" is refused (invalid literal for int()'),
        ("debug = maybe", "give true or false"),
        ("max_stacks_per_tenat = 3", 'did you mean "max_stacks_per_tenant"?'),
        ("flavor = standalone", "it belongs to [paste_deploy]"),
        ("nonsense_of_mine = 3", "neither Stoker nor Heat has such an option; remove it"),
        ("[keystone_authtokn]\na = 1", 'did you mean the section "[keystone_authtoken]"?'),
        ("[database]\nconnection = mysql+pymysql://h:geheim@x/heat", "a mysql database"),
    ],
)
def test_wrong_option_is_reported_with_line_and_remedy(
    tmp_path: Path, line: str, said: str
) -> None:
    file = file_with(tmp_path, f"{GOOD}[DEFAULT]\n{line}\n")
    result = checked(file)
    assert result.exit_code == 1
    number = file.read_text().splitlines().index(line.splitlines()[-1]) + 1
    assert f"{file}:{number}: " in result.output
    assert said in result.output
    assert "geheim" not in result.output


def test_the_value_of_a_secret_is_not_repeated(tmp_path: Path) -> None:
    file = file_with(tmp_path, f"{GOOD}[DEFAULT]\nauth_encryption_key = $nosuch_geheim\n")
    result = checked(file)
    assert result.exit_code == 1
    assert "auth_encryption_key" in result.output
    assert "geheim" not in result.output


def test_option_without_effect_is_reported_with_reason(tmp_path: Path) -> None:
    text = "[DEFAULT]\nrpc_backend = rabbit\n[oslo_messaging_metrics]\nmetrics_enabled = true\n"
    result = checked(file_with(tmp_path, GOOD + text))
    assert result.exit_code == 0
    assert result.output.count("no effect") == 2
    assert "[DEFAULT] rpc_backend: there is no RPC" in result.output


def test_message_bus_options_count_for_notifications(tmp_path: Path) -> None:
    text = "[DEFAULT]\ntransport_url = rabbit://x\n[oslo_messaging_rabbit]\nssl = true\n"
    assert "no effect" not in checked(file_with(tmp_path, GOOD + text)).output


def test_old_option_names_work_and_are_reported(tmp_path: Path) -> None:
    text = GOOD.replace("username", "user_name") + "[DEFAULT]\nbind_port = 9004\n"
    file = file_with(tmp_path, text)
    conf = load([file])
    assert (conf.keystone_authtoken.username, conf.heat_api.bind_port) == ("stoker", 9004)
    found = remarks([file])
    assert [remark.kind for remark in found] == [Kind.OLD_NAME] * 2
    assert "[keystone_authtoken] username" in found[0].message


def test_later_files_and_directories_go_over_earlier_ones(tmp_path: Path) -> None:
    first = file_with(tmp_path, "[DEFAULT]\nhost = a\nmax_template_size = 7\n")
    directory = tmp_path / "heat.conf.d"
    directory.mkdir()
    file_with(directory, "[DEFAULT]\nhost = b\n", "1.conf")
    file_with(directory, "[DEFAULT]\nhost = c\n", "2.conf")
    file_with(directory, "[DEFAULT]\nhost = d\n", "ignored.txt")
    conf = load(ConfigFiles((first,), (directory,)))
    assert (conf.host, conf.max_template_size) == ("c", 7)


def test_usual_files_are_stokers_or_else_heats(tmp_path: Path) -> None:
    assert not usual_files(tmp_path)
    (tmp_path / "heat/heat.conf.d").mkdir(parents=True)
    heat = file_with(tmp_path / "heat", "")
    assert usual_files(tmp_path) == ConfigFiles((heat,), (tmp_path / "heat/heat.conf.d",))
    (tmp_path / "stoker").mkdir()
    own = file_with(tmp_path / "stoker", "", "stoker.conf")
    assert usual_files(tmp_path) == ConfigFiles((own,))


def test_command_line_overrides_addresses_of_the_file(
    tmp_path: Path,
) -> None:
    text = f"{GOOD}[DEFAULT]\ndata_dir = {tmp_path}/kept\n[heat_api]\nbind_host = 0.0.0.0\n"
    file = file_with(tmp_path, f"{text}bind_port = 9004\n[heat_api_cfn]\nbind_port = 9000\n")
    options = ServeOptions(tmp_path, port=8888, config=ConfigFiles((file,)))
    found = configuration.with_configured(options, {"port"})
    assert (found.host, found.port, found.cfn_host, found.cfn_port) == (
        "0.0.0.0",
        8888,
        "127.0.0.1",
        9000,
    )
    assert found.data_dir == tmp_path / "kept"


def test_wrong_values_prevent_start_and_are_all_named(tmp_path: Path) -> None:
    file = file_with(tmp_path, f"{GOOD}[DEFAULT]\ndebug = maybe\nmax_template_size = big\n")
    with pytest.raises(CommandError) as error:
        configuration.read(ConfigFiles((file,)))
    assert f"{file}:7: " in error.value.message
    assert f"{file}:8: " in error.value.message


def test_a_sample_has_every_option_and_sets_none(tmp_path: Path) -> None:
    text = sample()
    for group, options in GROUPS.items():
        shown = [o.dest for o in options if o.dest not in IGNORED.get(group, {})]
        assert not shown or f"[{group}]\n" in text
        for name in shown:
            assert f"\n#{name} =" in text
    assert "[oslo_policy]" in text
    file = file_with(tmp_path, text)
    assert remarks([file]) == []
    # and with every option set to its default, it is still right
    default = "\n".join(
        line[1:] if line[:1] == "#" and line[1:2] != " " and "<None>" not in line else line
        for line in text.splitlines()
    )
    load([file_with(tmp_path, default, "all.conf")])
    assert all(r.kind is not Kind.UNKNOWN for r in remarks([tmp_path / "all.conf"]))


def test_services_are_reached_as_their_sections_say(tmp_path: Path) -> None:
    text = """
[DEFAULT]
region_name_for_shared_services = Shared
shared_services_types = image
[clients]
endpoint_type = internalURL
cert_file = /own.pem
[clients_nova]
endpoint_type = adminURL
ca_file = /nova.pem
[clients_swift]
insecure = true
"""
    conf = load([file_with(tmp_path, GOOD + text)])
    endpoints = endpoints_of(settings_from(conf), conf)
    assert (endpoints.interface, endpoints.certificate) == ("internal", "/own.pem")
    assert endpoints.services == {
        "compute": ServiceAccess(interface="admin", verify="/nova.pem"),
        "image": ServiceAccess(region="Shared"),
        "object-store": ServiceAccess(verify=False),
    }


def test_operator_sets_defaults_of_properties(tmp_path: Path) -> None:
    text = """
[DEFAULT]
default_user_data_format = RAW
default_software_config_transport = POLL_SERVER_HEAT
default_deployment_signal_transport = HEAT_SIGNAL
"""
    conf = load([file_with(tmp_path, text)])
    types = Registry(property_defaults=property_defaults_of(conf))

    def default(name: str, of: str) -> object:
        found = types.find(name)
        assert found is not None
        return found.properties[of].default

    assert default("OS::Nova::Server", "user_data_format") == "RAW"
    assert default("OS::Nova::Server", "software_config_transport") == "POLL_SERVER_HEAT"
    assert default("OS::Heat::SoftwareDeployment", "signal_transport") == "HEAT_SIGNAL"
    untouched = Registry().find("OS::Nova::Server")
    assert untouched is not None
    assert untouched.properties["user_data_format"].default == "HEAT_CFNTOOLS"
