"""Programs for file systems on volumes, which are directories in a server: ``/dev/vdb``.

Templates format a device, mount it, and find it again by its content. These programs do so for
volumes, and ``mount`` also for shares. In all other cases they start the program that they replace.
"""

PROGRAM = r"""#!/bin/sh
# Formats, mounts and looks at volumes, which are directories in this server, and mounts shares of
# the cloud. Anything else is left to the program of the system.
name=${0##*/}
rest=$PATH
PATH=$(echo ":$PATH:" | sed 's#:/usr/local/sbin:#:#g; s#^:##; s#:$##')

volume() {
    place=$(readlink -f "$1" 2>/dev/null)
    case "$place" in /dev/vd[a-z]) [ -d "$place" ] ;; *) false ;; esac
}
system() {
    program=$(command -v "$name") || { echo "$name: not found in this server" >&2; exit 127; }
    PATH=$rest exec "$program" "$@"
}
formatted() { [ -d "$1/lost+found" ]; }
bind() {
    mkdir -p "$2"
    command mount --bind "$1" "$2" || exit 32
    case ",$3," in *,ro,*) command mount -o remount,bind,ro "$2" || exit 32 ;; esac
}
share() {  # SOURCE KIND: whether that is a share; kind is what sort it is then
    case "$1" in *:/*|//*|*:*:/*) ;; *) return 1 ;; esac
    case "$2" in
        nfs|nfs4|cifs|smb3|ceph) kind=$2 ;;
        ''|auto) case "$1" in //*) kind=cifs ;; *) kind=nfs ;; esac ;;
        *) return 1 ;;
    esac
}
mounted() {
    awk -v target="$1" '$5 == target { found = 1 } END { exit !found }' /proc/self/mountinfo
}
from_fstab() {
    while read -r source target type options _; do
        case "$source" in ''|'#'*) continue ;; esac
        [ -z "$1" ] || [ "$target" = "$1" ] || continue
        case ",$options," in *,noauto,*) [ -n "$1" ] || continue ;; esac
        if volume "$source"; then
            found=yes
            mounted "$target" || bind "$place" "$target" "$options"
        elif share "$source" "$type"; then
            found=yes
            mounted "$target" || "/usr/local/sbin/mount.$kind" "$source" "$target" -o "$options" \
                < /dev/null || failed=32
        fi
    done < /etc/fstab
}

last= ; first= ; options= ; all= ; value= ; type=ext4 ; asked= ; form=full ; tag= ; failed=0
case "$name" in mkfs.*) type=${name#mkfs.} ;; esac
for word in "$@"; do
    if [ -n "$value" ]; then
        case "$value" in
            -o) options=${options:+$options,}$word ; form=$word ;;
            -t) type=$word ; asked=$word ;;
            -s) tag=$word ;;
        esac
        value= ; continue
    fi
    case "$word" in
        -o|-t|-s|-L|-U|-b|-m|-i|-N|-O|-E|-I|-T) value=$word ;;
        -a) all=yes ;;
        -r) options=${options:+$options,}ro ;;
        -o?*) options=${options:+$options,}${word#-o} ;;
        -t?*) type=${word#-t} ; asked=$type ;;
        -*) ;;
        *) first=${first:-$word} ; last=$word ;;
    esac
done

case "$name" in
    mount)
        if [ -n "$first" ] && [ "$first" != "$last" ] && volume "$first"; then
            case " $* " in *" --bind "*|*" bind "*) system "$@" ;; esac
            bind "$place" "$last" "$options"
            exit 0
        fi
        if [ -n "$first" ] && [ "$first" != "$last" ] && share "$first" "$asked"; then
            exec "/usr/local/sbin/mount.$kind" "$first" "$last" -o "$options"
        fi
        found=
        [ -n "$last" ] && [ "$first" = "$last" ] && [ -e /etc/fstab ] && from_fstab "$last"
        [ -n "$found" ] && exit "$failed"
        [ -n "$all" ] && [ -e /etc/fstab ] && { from_fstab ''; exit "$failed"; }
        system "$@" ;;
    umount)
        volume "$last" || system "$@"
        number=$(awk -v target="$place" '$5 == target { print $3 }' /proc/self/mountinfo)
        for target in $(awk -v n="$number" '$3 == n && $5 !~ "^/dev/" { print $5 }' \
                        /proc/self/mountinfo); do
            command umount "$target" || exit 32
        done ;;
    mkfs|mkfs.*|mke2fs)
        # What follows the device is its size in blocks.
        volume "$last" || volume "$first" || system "$@"
        find "$place" -mindepth 1 -delete || exit 1
        mkdir -m 700 "$place/lost+found" && echo "$type" > "$place/lost+found/.type" ;;
    blkid)
        [ -n "$last" ] || system "$@"
        volume "$last" || system "$@"
        formatted "$place" || exit 2
        type=$(cat "$place/lost+found/.type" 2>/dev/null || echo ext4)
        case "$form-$tag" in
            value-TYPE|value-) echo "$type" ;;
            value-*) exit 2 ;;
            export-*) echo "DEVNAME=$last" ; echo "TYPE=$type" ;;
            *) echo "$last: TYPE=\"$type\"" ;;
        esac ;;
    *)  # it grows by itself, and there is nothing to check
        volume "$last" || volume "$first" || system "$@"
        formatted "$place" || { echo "$name: there is no file system on $last" >&2; exit 1; } ;;
esac
"""
# Under which the program is installed.
NAMES = (
    "mount", "umount", "mkfs", "mkfs.ext2", "mkfs.ext3", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs",
    "mke2fs", "blkid", "resize2fs", "xfs_growfs", "e2fsck", "fsck", "fsck.ext4",
)  # fmt: skip
