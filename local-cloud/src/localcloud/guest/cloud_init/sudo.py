"""``sudo`` for users of a server: a copy of the host's that belongs to the server's own root.

In a server, the host's files have no owner, and sudo refuses to work with files that root does not
own.
"""

import shutil
from pathlib import Path

_PROGRAM = Path("/usr/bin/sudo")
_PLUGINS = (Path("/usr/libexec/sudo"), Path("/usr/lib/sudo"))
_OWN_PLUGINS = Path("/usr/local/lib/sudo")
_CONFIG = f"""Path plugin_dir {_OWN_PLUGINS}/
Plugin sudoers_policy sudoers.so
Plugin sudoers_io sudoers.so
Plugin sudoers_audit sudoers.so
"""
_RULES = "root ALL=(ALL:ALL) ALL\n@includedir /etc/sudoers.d\n"


def install() -> None:
    """Make the host's sudo the server's own, once; nothing to do where it is or is missing."""
    plugins = next((place for place in _PLUGINS if (place / "sudoers.so").exists()), None)
    if not _PROGRAM.exists() or plugins is None or _PROGRAM.stat().st_uid == 0:
        return
    _OWN_PLUGINS.mkdir(parents=True, exist_ok=True)
    for source in plugins.iterdir():
        if source.is_file():
            shutil.copyfile(source, _OWN_PLUGINS / source.name)
            (_OWN_PLUGINS / source.name).chmod(0o644)
    own = _PROGRAM.with_name("sudo.own")
    shutil.copyfile(_PROGRAM, own)
    own.chmod(0o4755)
    own.rename(_PROGRAM)
    Path("/etc/sudo.conf").write_text(_CONFIG)
    rules = Path("/etc/sudoers")
    if not rules.exists():
        rules.write_text(_RULES)
        rules.chmod(0o440)
