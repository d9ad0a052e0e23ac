"""``mounts`` of cloud-config, and the mounts of /etc/fstab at each boot: volumes and shares."""

import re
from pathlib import Path
from typing import Any

from localcloud.guest.cloud_init.instance import Instance
from localcloud.guest.cloud_init.scripts import run_program, say

_FSTAB = Path("/etc/fstab")
# Defaults for the type, options, dump and pass fields of an entry.
_NOT_GIVEN = ("auto", "defaults,nofail,_netdev", "0", "2")
_DISK = re.compile(r"vd[a-z]")
# cloud-init marks its lines in /etc/fstab with this option.
_MARK = "comment=cloudconfig"


def add_mounts(config: dict[str, Any]) -> None:
    """Write the entries of ``mounts`` into /etc/fstab, and make their directories."""
    entries = config.get("mounts")
    if not isinstance(entries, list):
        return
    lines = _FSTAB.read_text().splitlines() if _FSTAB.exists() else []
    for entry in entries:
        words = entry if isinstance(entry, list) else [entry]
        if len(words) < 2 or not all(isinstance(word, str | int) for word in words):
            say(f"cloud-config: mounts: {entry!r} must be a list that names a source and a target")
            continue
        # White space separates fields in /etc/fstab; within a field, it is an octal escape.
        source, target, *given = (re.sub(r"\s", r"\\040", str(word)) for word in words)
        source = f"/dev/{source}" if _DISK.fullmatch(source) else source
        kind, options, *numbers = (*given, *_NOT_GIVEN[len(given) :])[:4]
        line = " ".join((source, target, kind, f"{options},{_MARK}", *numbers))
        # Replace an entry with the same target: after a crash, this runs again.
        lines = [known for known in lines if known.split()[1:2] != [target]] + [line]
        Path(str(words[1])).mkdir(parents=True, exist_ok=True)
    _FSTAB.write_text("".join(f"{line}\n" for line in lines))


def mount_all(instance: Instance) -> list[str]:
    """Mount the entries of /etc/fstab. Returns a sentence about those that failed."""
    entries = _FSTAB.read_text().splitlines() if _FSTAB.exists() else []
    if not any(line.strip() and not line.lstrip().startswith("#") for line in entries):
        return []
    code = run_program(["mount", "-a"], instance)
    return [f"mount -a ended with exit code {code}"] if code else []
