"""Programs that a server has in addition: they reach the first process, which is not systemd."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from localcloud.guest.programs import share_commands, volume_commands

_HEAD = "#!/bin/sh\n"
_POWER_OFF = _HEAD + "# Ends this server.\nexec kill -TERM 1\n"
_REBOOT = _HEAD + "# Restarts this server.\nexec kill -INT 1\n"
_SHUTDOWN = (
    _HEAD
    + """# Ends or restarts this server: shutdown [-h|-P|-H|-r] [now|+minutes]
action=TERM
delay=60
for argument in "$@"; do
    case "$argument" in
        -r|--reboot) action=INT ;;
        -c) echo "shutdown: nothing is scheduled"; exit 0 ;;
        now) delay=0 ;;
        +[0-9]*) delay=$(( ${argument#+} * 60 )) ;;
    esac
done
if [ "$delay" = 0 ]; then exec kill -"$action" 1; fi
echo "shutdown in $delay seconds"
( sleep "$delay"; kill -"$action" 1 ) >/dev/null 2>&1 </dev/null &
"""
)
_INIT = (
    _HEAD
    + """# Changes the run level as far as a server without services can: 0 and 6.
case "$1" in
    0) exec kill -TERM 1 ;;
    6) exec kill -INT 1 ;;
esac
echo "$0: run level $1 is not available in this server" >&2
exit 1
"""
)
_SYSTEMCTL = (
    _HEAD
    + """# Powers off and reboots; there are no units, as this server does not run systemd.
for argument in "$@"; do
    case "$argument" in
        poweroff|halt) exec kill -TERM 1 ;;
        reboot) exec kill -INT 1 ;;
        daemon-reload|reset-failed) exit 0 ;;
        is-system-running) echo running; exit 0 ;;
        -*) ;;
        *) break ;;
    esac
done
if [ -x /usr/sbin/service ]; then
    verb= ; unit=
    for argument in "$@"; do
        case "$argument" in
            -*) ;;
            start|stop|restart|reload|status) verb=$argument ;;
            *) unit=${argument%.service} ;;
        esac
    done
    if [ -n "$verb" ] && [ -x "/etc/init.d/$unit" ]; then exec service "$unit" "$verb"; fi
fi
echo "systemctl: this server does not run systemd; ignored: systemctl $*" >&2
case "$1" in enable|disable|mask|unmask|preset) exit 0 ;; esac
exit 1
"""
)

_CLOUD_INIT = (
    _HEAD
    + """# Tells how far user data is: cloud-init status [--wait]
result=/run/cloud-init/result.json
if [ "$1" != status ]; then
    echo "cloud-init: only 'status' is available in this server" >&2
    exit 1
fi
case " $* " in *" --wait "*) while [ ! -e "$result" ]; do sleep 0.2; done ;; esac
if [ ! -e "$result" ]; then echo "status: running"; exit 0; fi
if grep -q '"errors": \\[\\]' "$result"; then echo "status: done"; exit 0; fi
echo "status: error"
exit 1
"""
)

_AS_ROOT = (
    _HEAD
    + """# Runs a command as another user, as far as a server with one user id can: the command has
# root's rights, and that user's name, home directory and shell in its environment.
name=${0##*/}
user=root
login=
command=
have_user=
[ "$name" = sudo ] || login=maybe
while [ $# -gt 0 ]; do
    case "$1" in
        -u|--user) user=$2; have_user=1; shift ;;
        -c|--command) command=$2; shift ;;
        -l|-i|-|--login) login=yes ;;
        -g|-G|-s|--shell|--group|-p|-C|-U) shift ;;
        --) shift; break ;;
        -*) ;;
        *=*) export "$1" ;;
        *)
            if [ "$name" != sudo ] && [ -z "$have_user" ]; then
                user=$1; have_user=1
            else
                break
            fi ;;
    esac
    shift
done
entry=$(grep "^$user:" /etc/passwd) || { echo "$name: there is no user $user" >&2; exit 1; }
home=$(echo "$entry" | cut -d: -f6)
shell=$(echo "$entry" | cut -d: -f7)
case "$shell" in ""|*/nologin|*/false) shell=/bin/sh ;; esac
export USER="$user" LOGNAME="$user" HOME="$home" SHELL="$shell"
[ "$login" = yes ] && cd "$home"
if [ -n "$command" ]; then exec "$shell" -c "$command" "$@"; fi
if [ $# -gt 0 ]; then exec "$@"; fi
exec "$shell"
"""
)
_FOR_ONE_USER = {"su": _AS_ROOT, "sudo": _AS_ROOT, "runuser": _AS_ROOT}
_SUDO = (
    _HEAD
    + """# Runs a command as another user: sudo [-u user] [-i] [name=value]... command...
user=root
while [ $# -gt 0 ]; do
    case "$1" in
        -u|--user) user=$2; shift ;;
        --user=*) user=${1#--user=} ;;
        -g|-p|-C|-U) shift ;;
        --) shift; break ;;
        -*) ;;
        *=*) export "$1" ;;
        *) break ;;
    esac
    shift
done
if [ "$(id -u)" != 0 ]; then
    echo "sudo: this image has no sudo; this stand-in works for root alone" >&2
    exit 1
fi
entry=$(grep "^$user:" /etc/passwd) || { echo "sudo: there is no user $user" >&2; exit 1; }
export USER="$user" LOGNAME="$user" HOME="$(echo "$entry" | cut -d: -f6)"
[ $# -gt 0 ] || set -- "$(echo "$entry" | cut -d: -f7)"
[ "$user" = root ] && exec "$@"
exec setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups -- "$@"
"""
)
_PROGRAMS = {
    "cloud-init": _CLOUD_INIT,
    "poweroff": _POWER_OFF,
    "halt": _POWER_OFF,
    "reboot": _REBOOT,
    "shutdown": _SHUTDOWN,
    "init": _INIT,
    "telinit": _INIT,
    "systemctl": _SYSTEMCTL,
}


_DIRECTORY = Path("/usr/local/sbin")
_HELPERS = tuple(f"mount.{kind}" for kind in share_commands.KINDS)
_HELPERS_DIRECTORY = Path("/usr/sbin")  # where the system's own mount looks for them
DIRECTORIES = (_DIRECTORY, _HELPERS_DIRECTORY)  # where `install` puts what it installs


def install(many_users: bool, layer: Path = Path("/")) -> None:
    """Put the programs that the system lacks into it, or into a layer that lies over it."""
    for directory in DIRECTORIES:
        _within(layer, directory).mkdir(parents=True, exist_ok=True)
    for name, content in _programs(many_users).items():
        path = _DIRECTORY / name
        if not path.exists():
            _within(layer, path).write_text(content)
            _within(layer, path).chmod(0o755)
    for name in _HELPERS:
        path = _HELPERS_DIRECTORY / name
        if not os.path.lexists(path):
            with suppress(OSError):
                _within(layer, path).symlink_to(_DIRECTORY / name)


def _within(layer: Path, path: Path) -> Path:
    return layer / path.relative_to("/")


def _programs(many_users: bool) -> dict[str, str]:
    """The programs by name.

    In a server with only one user ID, programs that change users have stand-ins, because the real
    ones check the result of the change.
    """
    programs = {
        **_PROGRAMS,
        **dict.fromkeys(volume_commands.NAMES, volume_commands.PROGRAM),
        **dict.fromkeys(_HELPERS, share_commands.PROGRAM),
    }
    if not many_users:
        programs |= _FOR_ONE_USER
    elif not Path("/usr/bin/sudo").exists():
        programs["sudo"] = _SUDO
    return programs


def digest(many_users: bool) -> str:
    """Changes when something else would be installed."""
    return hashlib.sha256(repr(_programs(many_users)).encode()).hexdigest()
