"""Small settings of cloud-config: names, time zone, locale, the end of the first boot."""

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from localcloud.guest.cloud_init.instance import Instance
from localcloud.guest.cloud_init.scripts import run_program, say

_LONGEST_DELAY_MINUTES = 24 * 60
# The release of cloud-init whose behaviour this is: scripts look for its lines and its version.
_VERSION = "24.4"
_FINAL = (
    f"Cloud-init v. {_VERSION} finished at $TIMESTAMP. "
    "Datasource DataSourceOpenStack.  Up $UPTIME seconds"
)


def set_hostname(config: dict[str, Any], instance: Instance) -> None:
    """``hostname``, ``fqdn``, ``preserve_hostname``; keeps /etc/hosts in step."""
    hostname = (
        config.get("fqdn") if config.get("prefer_fqdn_over_hostname") else config.get("hostname")
    )
    hostname = hostname or config.get("fqdn")
    if config.get("preserve_hostname") or not hostname:
        return
    name = str(hostname)
    Path("/etc/hostname").write_text(f"{name}\n")
    # The program, not the system call, is what an image may lack; the kernel's file always works.
    code = run_program(["hostname", name], instance)
    if code != 0:
        say(f"cloud-config: hostname {name} could not be set: exit code {code}")
    full = str(config.get("fqdn") or name)
    names = dict.fromkeys([full, name, full.partition(".")[0]])
    hosts = Path("/etc/hosts")
    lines = [line for line in hosts.read_text().splitlines() if not line.startswith("127.0.1.1")]
    hosts.write_text("\n".join([*lines, f"127.0.1.1 {' '.join(names)}"]) + "\n")


def set_timezone(config: dict[str, Any]) -> None:
    """``timezone``."""
    timezone = config.get("timezone")
    if not timezone:
        return
    zone = Path("/usr/share/zoneinfo", str(timezone))
    if not zone.is_file():
        say(f"cloud-config: timezone {timezone} is not installed in this server")
        return
    local = Path("/etc/localtime")
    local.unlink(missing_ok=True)
    local.symlink_to(zone)
    Path("/etc/timezone").write_text(f"{timezone}\n")


def set_locale(config: dict[str, Any]) -> None:
    """``locale``."""
    locale = config.get("locale")
    if locale:
        path = Path(str(config.get("locale_configfile") or "/etc/default/locale"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'LANG="{locale}"\n')


def _uptime() -> str:
    return Path("/proc/uptime").read_text().split()[0]


def _now() -> str:
    return time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime())


def say_start() -> None:
    """Print the first line of cloud-init."""
    say(f"Cloud-init v. {_VERSION} running 'init' at {_now()}. Up {_uptime()} seconds.")


def say_final(config: dict[str, Any]) -> None:
    """``final_message``, with cloud-init's variables."""
    message = str(config.get("final_message") or _FINAL)
    values = {
        "TIMESTAMP": _now(),
        "UPTIME": _uptime(),
        "VERSION": _VERSION,
        "DATASOURCE": "DataSourceOpenStack",
    }
    for name, value in values.items():
        for form in (f"${name}", f"${{{name}}}", f"${name.lower()}", f"${{{name.lower()}}}"):
            message = message.replace(form, value)
    say(message)


def phone_home(config: dict[str, Any], instance: Instance) -> list[str]:
    """``phone_home``: posts the instance's facts with curl. Returns sentences about failures."""
    settings = config.get("phone_home")
    if not isinstance(settings, dict) or not settings.get("url"):
        return []
    facts = {
        "instance_id": instance.id,
        "hostname": Path("/etc/hostname").read_text().strip(),
        "fqdn": Path("/etc/hostname").read_text().strip(),
    }
    names = settings.get("post", "all")
    chosen = facts if names == "all" else {name: facts.get(str(name), "") for name in names or ()}
    fields = [
        word for name, value in chosen.items() for word in ("--data-urlencode", f"{name}={value}")
    ]
    url = str(settings["url"]).replace("$INSTANCE_ID", instance.id)
    tries = min(int(settings.get("tries", 10)), 20)
    patience = ("--retry", str(tries), "--retry-all-errors", "--retry-delay", "1")
    code = run_program(["curl", "-sSf", *patience, *fields, url], instance)
    if code == 0:
        return []
    say(f"cloud-config: phone_home to {url} ended with exit code {code}")
    return [f"phone_home to {url} ended with exit code {code}"]


def _condition(condition: Any, instance: Instance) -> bool:
    if isinstance(condition, str) and condition.lower() not in ("true", "false"):
        return run_program(["/bin/sh", "-c", condition], instance) == 0
    if isinstance(condition, list):
        return run_program([str(word) for word in condition], instance) == 0
    return str(condition).lower() != "false"


def change_power_state(config: dict[str, Any], instance: Instance) -> None:
    """``power_state``: powers off or reboots when user data is done."""
    settings = config.get("power_state")
    if not isinstance(settings, dict) or settings.get("mode") not in ("poweroff", "halt", "reboot"):
        return
    if not _condition(settings.get("condition", True), instance):
        return
    delay = str(settings.get("delay", "now")).lstrip("+")
    minutes = min(int(delay), _LONGEST_DELAY_MINUTES) if delay.isdigit() else 0
    if settings.get("message"):
        say(str(settings["message"]))
    time.sleep(minutes * 60)
    # The first process of a server reboots on SIGINT, and powers off on SIGTERM.
    os.kill(1, signal.SIGINT if settings["mode"] == "reboot" else signal.SIGTERM)


def redirect_output(config: dict[str, Any]) -> "subprocess.Popen[bytes] | None":
    """``output``: redirect further output through the given file or command, and to the console."""
    output = config.get("output")
    if isinstance(output, dict):
        output = output.get("all") or output.get("final") or output.get("config")
    if isinstance(output, dict):
        output = output.get("output")
    if isinstance(output, list):
        output = output[0] if output else None
    text = str(output or "").strip()
    if text.startswith("|"):
        command = text[1:].strip()
    elif text.startswith(">"):
        append = "-a " if text.startswith(">>") else ""
        command = f"tee {append}{text.lstrip('>').strip()}"
    else:
        return None
    # The first process writes all output to this file already.
    if command.replace("-a ", "") == "tee /var/log/cloud-init-output.log":
        return None
    process = subprocess.Popen(command, shell=True, stdin=subprocess.PIPE)  # noqa: S602 - it is a shell line
    assert process.stdin is not None
    for standard in (1, 2):
        os.dup2(process.stdin.fileno(), standard)
    process.stdin.close()
    return process
