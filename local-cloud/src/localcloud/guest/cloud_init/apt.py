"""``apt`` and ``ca_certs`` of cloud-config: where packages come from, and who is trusted."""

import re
from pathlib import Path
from typing import Any

from localcloud.guest.cloud_init.instance import Instance
from localcloud.guest.cloud_init.scripts import run_program, say

_APT = Path("/etc/apt")
_CERTIFICATES = Path("/usr/local/share/ca-certificates")
_DONE = {"conf", "sources", "proxy", "http_proxy", "https_proxy", "sources_list"}


def configure_apt(config: dict[str, Any]) -> None:
    """``apt``: ``conf``, proxies, ``sources`` with their keys, and ``sources_list``."""
    settings = config.get("apt")
    if not isinstance(settings, dict):
        return
    lines = [str(settings["conf"])] if settings.get("conf") else []
    for key, kind in (("proxy", "http"), ("http_proxy", "http"), ("https_proxy", "https")):
        if settings.get(key):
            lines.append(f'Acquire::{kind}::Proxy "{settings[key]}";')
    if lines:
        _write(_APT / "apt.conf.d/94cloud-init-config", "\n".join(lines) + "\n")
    if settings.get("sources_list"):
        _write(_APT / "sources.list", _with_release(str(settings["sources_list"])))
    for name, entry in (settings.get("sources") or {}).items():
        if isinstance(entry, dict):
            _add_source(re.sub(r"[^\w.-]", "_", str(entry.get("filename") or name)), entry)
    ignored = sorted(str(key) for key in set(settings) - _DONE)
    if ignored:
        say(f"cloud-config: apt: not done in this server: {', '.join(ignored)}")


def _add_source(name: str, entry: dict[str, Any]) -> None:
    name = name.removesuffix(".list")
    if entry.get("key"):
        # The suffix matters: apt expects binary keys in files that end in `.gpg`.
        _write(_APT / f"trusted.gpg.d/{name}.asc", str(entry["key"]))
    elif entry.get("keyid"):
        say(f"cloud-config: apt: the key {entry['keyid']} of {name} is not fetched: give it as key")
    source = str(entry.get("source") or "")
    if source.startswith("ppa:"):
        say(f"cloud-config: apt: {source} is not added: give the line of its archive")
    elif source:
        _write(_APT / f"sources.list.d/{name}.list", _with_release(source) + "\n")


def _with_release(text: str) -> str:
    facts = Path("/etc/os-release").read_text().splitlines()
    found = [line.partition("=")[2].strip('"') for line in facts if "VERSION_CODENAME=" in line]
    return text.replace("$RELEASE", found[0]) if found else text


def add_certificates(config: dict[str, Any], instance: Instance) -> None:
    """``ca_certs``: certificates of authorities to be trusted from now on."""
    settings = config.get("ca_certs") or config.get("ca-certs")
    if not isinstance(settings, dict):
        return
    for number, certificate in enumerate(settings.get("trusted") or (), start=1):
        _write(_CERTIFICATES / f"cloud-init-ca-cert-{number}.crt", f"{str(certificate).strip()}\n")
    if settings.get("remove_defaults") or settings.get("remove-defaults"):
        say("cloud-config: ca_certs: the authorities of the image stay trusted")
    code = run_program(["update-ca-certificates"], instance)
    if code != 0:
        say(f"cloud-config: ca_certs: update-ca-certificates ended with exit code {code}")


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
