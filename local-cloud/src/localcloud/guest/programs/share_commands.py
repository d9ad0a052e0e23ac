"""The program behind ``mount.nfs`` and similar names: it requests a share from the cloud.

A namespace cannot mount the kernel's network file systems. The first process of the server passes
the request to the cloud, which mounts the share if the server has access to it.
"""

from localcloud.guest.programs.mount_requests import DIRECTORY, PIPE

PROGRAM = rf"""#!/bin/sh
# Mounts a share of the cloud: mount.nfs SOURCE DIRECTORY [-o OPTIONS]
name=${{0##*/}}
kind=${{name#mount.}}
source=$1
target=$2
[ $# -ge 2 ] || {{ echo "usage: $name SOURCE DIRECTORY [-o OPTIONS]" >&2; exit 1; }}
shift 2
options=
while [ $# -gt 0 ]; do
    case "$1" in
        -o) options=${{options:+$options,}}$2 ; shift ;;
        -t|-N) shift ;;
        -r) options=${{options:+$options,}}ro ;;
    esac
    shift
done
[ "$(id -u)" = 0 ] || {{ echo "$name: only root can mount $source on $target" >&2; exit 1; }}
place=$(cd "$target" 2>/dev/null && pwd -P) || {{
    echo "$name: mount point $target does not exist" >&2
    exit 32
}}
given=$(echo "$options" | tr , '\n' | sed -n 's/^\(credentials\|cred\)=//p')
[ -z "$given" ] || [ ! -r "$given" ] ||
    options=$options,$(sed 's/[[:space:]]*=[[:space:]]*/=/' "$given" | tr '\n' ,)
given=$(echo "$options" | tr , '\n' | sed -n 's/^secretfile=//p')
[ -z "$given" ] || [ ! -r "$given" ] || options=$options,secret=$(tr -d '[:space:]' < "$given")
line=$(printf '%s\t%s\t%s\t%s\t%s' $$ "$kind" "$source" "$place" "$options" | tr -d '\n')
umask 077
answer={DIRECTORY}/$$
[ ${{#line}} -lt 2048 ] && mkfifo "$answer" 2>/dev/null || {{
    echo "$name: the cloud cannot be asked for $source" >&2
    exit 32
}}
exec 3<>"$answer"
printf '\n%s\n' "$line" > {PIPE}
IFS= read -r said <&3
rm -f "$answer"
if [ "$said" != 0 ]; then
    echo "$name: ${{said#* }}" >&2
    exit "${{said%% *}}"
fi
case ",$options," in
    *,ro,*) PATH=/usr/sbin:/usr/bin:/sbin:/bin mount -o remount,bind,ro "$place" || exit 32 ;;
esac
"""
# The kinds of file systems for which the program is installed.
KINDS = ("nfs", "nfs4", "cifs", "smb3", "ceph")
