"""Rules about the form of user data, and about cloud-configs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import yaml

from stoker.cli.authoring.lint.rule import Group, Problem, Problems, Severity, rule
from stoker.cli.authoring.lint.scripts import placeholders, scripts, server_with, user_data
from stoker.cli.authoring.lint.views import TemplateView, Text
from stoker.kernel.diagnostics import nearest

_STARTS = (
    "#!", "#cloud-config", "#cloud-boothook", "#include", "#part-handler", "#upstart-job",
    "Content-Type:", "MIME-Version:", "<powershell>", "<script>", "#ps1", "rem cmd", "## template:",
    "{", "From ",
)  # fmt: skip
_MAX_BYTES = 49_000  # of a text; the API accepts 65535 bytes in base 64


@rule(
    Group.CORRECTNESS,
    "User data does not say how it is to be run.",
    why="""Cloud-init chooses by the first line. Without #!, #cloud-config or another known start,
        the text is ignored.""",
    remedy="Start it with #!/bin/sh or #cloud-config.",
    bad=server_with(
        """|  # here
                apt-get update
                apt-get install -y nginx
        """
    ),
    good=server_with(
        """|
                #!/bin/sh
                apt-get update
                apt-get install -y nginx
        """
    ),
)
def user_data_without_start(view: TemplateView) -> Problems:
    """Yield user data of several lines with an unknown start."""
    for text in user_data(view):
        value = text.value.lstrip()
        is_placeholder = re.match(r"[$%{_<@]", value) is not None
        if "\n" in value.strip() and not value.startswith(_STARTS) and not is_placeholder:
            yield Problem("cloud-init ignores user data with this start", text.path)


@rule(
    Group.CORRECTNESS,
    "User data is longer than the compute service accepts.",
    severity=Severity.ERROR,
    why="The service accepts 65535 bytes in base 64, which are 48 KiB of text.",
    remedy="Download the large parts, or put them into a software deployment.",
    bad="""
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: debian
              flavor: small
              networks: [{port: web}]
              user_data: "#!/bin/sh FILLER"  # here
        """.replace("FILLER", "-" * 50_000),
    good=server_with('"#!/bin/sh"\n'),
)
def long_user_data(view: TemplateView, *, bytes: int = _MAX_BYTES) -> Problems:  # noqa: A002
    """Yield user data above a number of bytes."""
    for text in user_data(view):
        size = len(text.value.encode())
        if size > bytes:
            yield Problem(f"the user data has {size} bytes", text.path)


@rule(
    Group.CORRECTNESS,
    "A cloud-config is not valid YAML.",
    severity=Severity.ERROR,
    why="Cloud-init ignores all of it, and the server starts without any of the settings.",
    remedy="Correct the YAML.",
    bad=server_with(
        """|  # here
                #cloud-config
                packages: [nginx
        """
    ),
    good=server_with(
        """|
                #cloud-config
                packages: [nginx]
        """
    ),
)
def invalid_cloud_config(view: TemplateView) -> Problems:
    """Yield cloud-configs that cannot be read, or are no map."""
    for text in _cloud_configs(view):
        try:
            data = yaml.load(text.value, Loader=yaml.CSafeLoader)
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark is not None else 1
            yield Problem(f"line {line} of the cloud-config is not valid YAML", text.path)
        except (yaml.YAMLError, ValueError):
            yield Problem("the cloud-config is not valid YAML", text.path)
        else:
            if data is not None and not isinstance(data, Mapping):
                yield Problem("the cloud-config is not a map", text.path)


def _cloud_configs(view: TemplateView) -> Iterator[Text]:
    """Yield cloud-configs with filled placeholders, unless a template engine fills others."""
    names = sorted(placeholders(view), key=len, reverse=True)
    for text in scripts(view):
        is_literal = "{{" not in text.value and "{%" not in text.value
        if text.value.startswith("#cloud-config") and is_literal:
            value = text.value
            for name in names if "str_replace" in str(text.path) else ():
                value = value.replace(name, "x")
            yield Text(value, text.path)


@rule(
    Group.CORRECTNESS,
    "A key of a cloud-config is misspelled.",
    why="Cloud-init ignores keys that it does not know, without an error.",
    remedy="Correct the key.",
    bad=server_with(
        """|  # here
                #cloud-config
                package: [nginx]
        """
    ),
    good=server_with(
        """|
                #cloud-config
                packages: [nginx]
        """
    ),
)
def misspelled_cloud_config_key(view: TemplateView) -> Problems:
    """Yield unknown keys at the top that resemble a known one."""
    for text in _cloud_configs(view):
        keys = re.findall(r"(?m)^([A-Za-z][\w-]*):(?:\s|$)", text.value)
        for key in keys:
            near = nearest(key, _MODULES, 0.8) if key not in _MODULES else None
            if near is not None:
                message = f'cloud-init does not know "{key}"'
                yield Problem(message, text.path, suggestion=f'did you mean "{near}"?')
                break


_MODULES = frozenset(
    (
        "allow_public_ssh_keys", "ansible", "apk_repos", "apt", "apt_pipelining",
        "apt_reboot_if_required", "apt_update", "apt_upgrade", "autoinstall", "bootcmd",
        "byobu_by_default", "ca_certs", "ca-certs", "chef", "chpasswd", "cloud_config_modules",
        "cloud_final_modules", "cloud_init_modules", "create_hostname_file", "datasource",
        "datasource_list", "debug", "device_aliases", "disable_ec2_metadata", "disable_root",
        "disable_root_opts", "disk_setup", "drivers", "fan", "final_message", "fqdn", "fs_setup",
        "groups", "growpart", "grub_dpkg", "hostname", "keyboard", "landscape", "launch-index",
        "locale", "lxd", "manage_etc_hosts", "manage_resolv_conf", "mcollective", "merge_how",
        "merge_type", "migrate", "mount_default_fields", "mounts", "network", "no_ssh_fingerprints",
        "ntp", "output", "package_reboot_if_required", "package_update", "package_upgrade",
        "packages", "password", "phone_home", "power_state", "prefer_fqdn_over_hostname",
        "preserve_hostname", "puppet", "random_seed", "reporting", "resize_rootfs", "resolv_conf",
        "rh_subscription", "rsyslog", "runcmd", "salt_minion", "snap", "spacewalk", "ssh",
        "ssh_authorized_keys", "ssh_deletekeys", "ssh_fp_console_blacklist", "ssh_genkeytypes",
        "ssh_import_id", "ssh_keys", "ssh_publish_hostkeys", "ssh_pwauth", "ssh_quiet_keygen",
        "ssh_svcname", "swap", "system_info", "timezone", "ubuntu_advantage", "ubuntu_pro",
        "updates", "user", "users", "vendor_data", "wireguard", "write_files", "yum_repo_dir",
        "yum_repos", "zypper", "syslog_fix_perms", "jinja", "unverified_modules", "def_log_file",
        "log_cfgs", "ssh_authorized_key_file", "cloud_id", "install_hotplug", "rpi",
    )
)  # fmt: skip
