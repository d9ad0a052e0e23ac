"""``packages``, ``package_update`` and ``package_upgrade`` of cloud-config."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localcloud.guest.cloud_init.instance import Instance
from localcloud.guest.cloud_init.scripts import SEARCH_PATH, run_program, say


@dataclass(frozen=True)
class _Manager:
    program: str
    update: tuple[str, ...]
    upgrade: tuple[str, ...]
    install: tuple[str, ...]
    version: str  # text between a package's name and its version


# Keep configuration files that user data wrote: dpkg would ask, and the input is empty.
_APT = ("apt-get", "-y", "-q", "-o", "Dpkg::Options::=--force-confold")
_ZYPPER = ("zypper", "-n")
_MANAGERS = (
    _Manager("apt-get", (*_APT, "update"), (*_APT, "dist-upgrade"), (*_APT, "install"), "="),
    *(
        _Manager(
            name, (name, "-y", "makecache"), (name, "-y", "upgrade"), (name, "-y", "install"), "-"
        )
        for name in ("dnf", "yum")
    ),
    _Manager("zypper", (*_ZYPPER, "refresh"), (*_ZYPPER, "update"), (*_ZYPPER, "install"), "="),
    _Manager("apk", ("apk", "update"), ("apk", "upgrade"), ("apk", "add"), "="),
)


def _present(program: str) -> bool:
    return any(Path(directory, program).exists() for directory in SEARCH_PATH.split(":"))


def _names(packages: Any, separator: str) -> list[str]:
    found: list[str] = []
    for entry in packages if isinstance(packages, list) else [packages]:
        if isinstance(entry, list | tuple) and len(entry) == 2:
            found.append(f"{entry[0]}{separator}{entry[1]}")
        elif isinstance(entry, dict):
            for manager, names in entry.items():
                if manager in ("apt", "dnf", "yum", "zypper", "apk"):
                    found += _names(names, separator)
        elif entry:
            found.append(str(entry))
    return found


def install_packages(config: dict[str, Any], instance: Instance) -> list[str]:
    """Update, upgrade and install packages as requested. Returns one sentence for each failure."""
    update = bool(config.get("package_update") or config.get("apt_update"))
    upgrade = bool(config.get("package_upgrade") or config.get("apt_upgrade"))
    packages = config.get("packages")
    if not (update or upgrade or packages):
        return []
    manager = next((known for known in _MANAGERS if _present(known.program)), None)
    if manager is None:
        return ["packages: this server has no package manager that is known"]
    steps: list[tuple[str, ...]] = []
    if update or packages:
        steps.append(manager.update)
    if upgrade:
        steps.append(manager.upgrade)
    if packages:
        steps.append((*manager.install, *_names(packages, manager.version)))
    extra: dict[str, str] = {"DEBIAN_FRONTEND": "noninteractive"}
    if not instance.many_users:
        # apt drops to its own user for downloads; there is none but root here.
        extra["APT_CONFIG"] = _apt_as_root()
    failures = []
    for step in steps:
        code = run_program(step, instance, b"", **extra)
        if code != 0:
            failures.append(f"packages: {' '.join(step)} ended with exit code {code}")
            say(f"cloud-config: {failures[-1]}")
    return failures


def _apt_as_root() -> str:
    path = Path("/run/cloud-init/apt.conf")
    path.write_text('APT::Sandbox::User "root";\n')
    return str(path)
