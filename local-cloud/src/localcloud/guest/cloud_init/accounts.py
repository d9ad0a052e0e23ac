"""Users and groups of a server, written into its account files without any program's help."""

import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from localcloud.guest.cloud_init.instance import Instance
from localcloud.guest.cloud_init.scripts import run_program, say

_DEFAULT_USER = "stoker"
_FIRST_ID = 1000
_SUDOERS = Path("/etc/sudoers.d/90-cloud-init-users")


def _read(name: str) -> list[list[str]]:
    path = Path("/etc", name)
    return [line.split(":") for line in path.read_text().splitlines()] if path.exists() else []


def _write(name: str, rows: list[list[str]]) -> None:
    path = Path("/etc", name)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    replacement = path.with_name(f"{name}.new")
    replacement.write_text("".join(":".join(row) + "\n" for row in rows))
    replacement.chmod(mode)
    # A rename is atomic: programs that look up accounts never read half a file.
    replacement.rename(path)


def find_user(name: str) -> tuple[int, int, str] | None:
    """The user id, group id and home directory of a user."""
    for row in _read("passwd"):
        if len(row) >= 6 and row[0] == name:
            return int(row[2]), int(row[3]), row[5]
    return None


def find_group(name: str) -> int | None:
    """The id of a group."""
    for row in _read("group"):
        if len(row) >= 3 and row[0] == name:
            return int(row[2])
    return None


def groups_of(name: str) -> list[int]:
    """The ids of the groups that name a user among their members."""
    return [int(row[2]) for row in _read("group") if len(row) >= 4 and name in row[3].split(",")]


def give(path: Path, owner: str) -> None:
    """Set the owner (``user``, ``user:group``) of a file; says so where that cannot be done."""
    user, _, group = owner.partition(":")
    uid = gid = -1
    if user:
        # -2 marks an unknown name, because chown(2) reserves -1 for an owner that stays.
        uid = int(user) if user.isdigit() else (find_user(user) or (-2, 0, ""))[0]
    if group:
        known = int(group) if group.isdigit() else find_group(group)
        gid = -2 if known is None else known
    if -2 in (uid, gid):
        say(f"cloud-config: {path}: there is no owner {owner}")
        return
    try:
        os.chown(path, uid, gid)
    except OSError as error:
        # A server with only one ID cannot change owners, but root owns its files already.
        if uid > 0 or gid > 0:
            say(f"cloud-config: {path} stays with root, not {owner}: {error.strerror}")


def _free_id(name: str) -> int:
    taken = {int(row[2]) for row in _read(name) if len(row) > 2 and row[2].isdigit()}
    return next(number for number in range(_FIRST_ID, 60000) if number not in taken)


def ensure_group(name: str, members: Iterable[str] = (), number: int | None = None) -> int:
    """Make a group when missing, add members, and return its id."""
    rows = _read("group")
    for row in rows:
        if row[0] == name and len(row) >= 4:
            present = [member for member in row[3].split(",") if member]
            row[3] = ",".join(dict.fromkeys([*present, *members]))
            _write("group", rows)
            return int(row[2])
    gid = number or _free_id("group")
    _write("group", [*rows, [name, "x", str(gid), ",".join(members)]])
    return gid


def _as_list(value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        return [name.strip() for name in value.split(",") if name.strip()]
    if isinstance(value, dict):
        return [str(name) for name in value]
    return [str(name) for name in value]


def make_groups(config: Any) -> None:
    """``groups``: names, or names with members."""
    entries = config if isinstance(config, list) else _as_list(config)
    if isinstance(config, dict):
        entries = [config]
    for entry in entries:
        if isinstance(entry, dict):
            for name, members in entry.items():
                ensure_group(str(name), _as_list(members))
        else:
            ensure_group(str(entry))


def _default_name(config: dict[str, Any]) -> str:
    info = config.get("system_info")
    default = info.get("default_user") if isinstance(info, dict) else None
    named = default.get("name") if isinstance(default, dict) else None
    user = config.get("user")
    if isinstance(user, dict):
        user = user.get("name")
    return str(user or named or _DEFAULT_USER)


def make_users(config: dict[str, Any], instance: Instance) -> None:
    """``users``, with the default user where it is not left out, and everyone's SSH keys."""
    default = _default_name(config)
    users = config.get("users", ["default"])
    entries = _as_list(users) if isinstance(users, str | dict) else list(users or [])
    keys = [*_as_list(config.get("ssh_authorized_keys")), *_public_keys(instance)]
    for entry in entries:
        if entry == "default" or entry == {"name": "default"}:
            _make_user({"name": default, "sudo": "ALL=(ALL) NOPASSWD:ALL"}, instance)
            _authorize(default, keys)
        elif isinstance(entry, dict) and entry.get("name"):
            _make_user(entry, instance)
            _authorize(str(entry["name"]), _as_list(entry.get("ssh_authorized_keys")))
        elif isinstance(entry, str):
            _make_user({"name": entry}, instance)
    _authorize("root", keys)


def _public_keys(instance: Instance) -> list[str]:
    keys = instance.metadata.get("public_keys")
    return [str(key) for key in keys.values()] if isinstance(keys, dict) else []


def _make_user(entry: dict[str, Any], instance: Instance) -> None:
    name = str(entry["name"])
    system = bool(entry.get("system"))
    home = str(entry.get("homedir") or f"/home/{name}")
    if find_user(name) is None:
        uid = int(entry["uid"]) if entry.get("uid") is not None else _free_id("passwd")
        primary = entry.get("primary_group") or ("users" if entry.get("no_user_group") else name)
        gid = ensure_group(
            str(primary), number=uid if primary == name and find_group(name) is None else None
        )
        shell = str(entry.get("shell") or ("/usr/sbin/nologin" if system else "/bin/bash"))
        row = [name, "x", str(uid), str(gid), str(entry.get("gecos") or ""), home, shell]
        _write("passwd", [*_read("passwd"), row])
        # `!` locks the password. 19000 is the day of its last change, in January 2022.
        _write("shadow", [*_read("shadow"), [name, "!", "19000", "0", "99999", "7", "", "", ""]])
        if not entry.get("no_create_home") and not system:
            _make_home(Path(home), name)
        if not instance.many_users:
            say(f"cloud-config: programs of user {name} run with root's rights in this server")
    for group in _as_list(entry.get("groups")):
        ensure_group(group, [name])
    _set_password(entry, instance)
    rules = entry.get("sudo")
    if rules:
        lines = [rules] if isinstance(rules, str) else [str(rule) for rule in rules]
        _SUDOERS.parent.mkdir(parents=True, exist_ok=True)
        with _SUDOERS.open("a") as sudoers:
            sudoers.writelines(f"{name} {line}\n" for line in lines)
        _SUDOERS.chmod(0o440)


def _make_home(home: Path, name: str) -> None:
    if not home.exists():
        home.mkdir(parents=True, mode=0o755)
        skeleton = Path("/etc/skel")
        for source in sorted(skeleton.iterdir()) if skeleton.is_dir() else []:
            if source.is_file():
                (home / source.name).write_bytes(source.read_bytes())
    user = find_user(name)
    assert user is not None
    for path in (home, *home.iterdir()):
        _hand_over(path, user[0], user[1])


def _hand_over(path: Path, uid: int, gid: int) -> None:
    # A server with only one ID has already reported that programs of users run as root.
    with suppress(OSError):
        os.chown(path, uid, gid)


def _authorize(name: str, keys: list[str]) -> None:
    user = find_user(name)
    if user is None or not keys:
        return
    directory = Path(user[2], ".ssh")
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = directory / "authorized_keys"
    present = path.read_text().splitlines() if path.exists() else []
    path.write_text("".join(f"{line.strip()}\n" for line in dict.fromkeys([*present, *keys])))
    path.chmod(0o600)
    for made in (directory, path):
        _hand_over(made, user[0], user[1])


def _set_password(entry: dict[str, Any], instance: Instance) -> None:
    name = str(entry["name"])
    # In cloud-init, `passwd` is a hash, too.
    hashed = entry.get("hashed_passwd") or entry.get("passwd")
    if hashed:
        _change_passwords([f"{name}:{hashed}"], instance, ("-e",))
    elif entry.get("plain_text_passwd"):
        _change_passwords([f"{name}:{entry['plain_text_passwd']}"], instance)


def _change_passwords(lines: list[str], instance: Instance, options: tuple[str, ...] = ()) -> None:
    code = run_program(
        ["chpasswd", *options], instance, "".join(f"{line}\n" for line in lines).encode()
    )
    if code != 0:
        say(f"cloud-config: the passwords could not be set: chpasswd ended with exit code {code}")


def set_passwords(config: dict[str, Any], instance: Instance) -> None:
    """``password`` of the default user and ``chpasswd`` of any."""
    chosen: list[tuple[str, str]] = []
    if config.get("password"):
        chosen.append((_default_name(config), str(config["password"])))
    settings = config.get("chpasswd")
    if isinstance(settings, dict):
        listed = settings.get("list") or []
        lines = listed.splitlines() if isinstance(listed, str) else [str(line) for line in listed]
        pairs = [line.partition(":") for line in lines if ":" in line]
        chosen += [(name.strip(), password) for name, _, password in pairs]
        for entry in settings.get("users") or []:
            if isinstance(entry, dict) and entry.get("name"):
                random = str(entry.get("type", "")).upper() == "RANDOM"
                chosen.append(
                    (str(entry["name"]), "R" if random else str(entry.get("password", "")))
                )
    plain: list[str] = []
    hashed: list[str] = []
    for name, password in chosen:
        if password in ("R", "RANDOM"):
            password = secrets.token_hex(10)
            say(f"cloud-config: the password of {name} is {password}")
        # Recognize a hash as cloud-init does, by its form `$algorithm$salt$digest`.
        (hashed if password.startswith("$") and password.count("$") > 2 else plain).append(
            f"{name}:{password}"
        )
    if plain:
        _change_passwords(plain, instance)
    if hashed:
        _change_passwords(hashed, instance, ("-e",))
