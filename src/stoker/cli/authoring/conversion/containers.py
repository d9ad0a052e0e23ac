"""Services of Compose files as containers, and the script that starts one on a server."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from stoker.cli.authoring.conversion.losses import Losses, list_in, map_in
from stoker.cli.authoring.conversion.ports import PublishedPort, port_of, split_at_colons
from stoker.cli.authoring.conversion.variables import Variables, words_of
from stoker.kernel.diagnostics import Path

# Keys of services that become options of "docker run".
_OPTIONS = {
    "hostname": "--hostname",
    "user": "--user",
    "working_dir": "--workdir",
    "mem_limit": "--memory",
    "cpus": "--cpus",
    "stop_signal": "--stop-signal",
    "pid": "--pid",
    "ipc": "--ipc",
    "shm_size": "--shm-size",
}
_LISTS = {
    "cap_add": "--cap-add",
    "cap_drop": "--cap-drop",
    "devices": "--device",
    "dns": "--dns",
    "extra_hosts": "--add-host",
    "security_opt": "--security-opt",
    "tmpfs": "--tmpfs",
}
_FLAGS = {
    "privileged": "--privileged",
    "read_only": "--read-only",
    "init": "--init",
    "tty": "--tty",
}
# Keys that are read below.
_READ = frozenset(
    (
        "image", "command", "entrypoint", "environment", "ports", "expose", "volumes", "networks",
        "depends_on", "labels", "restart", "container_name", "deploy", "scale", "healthcheck",
    )
)  # fmt: skip
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")  # of services, networks and volumes
_RESTARTS = ("no", "always", "unless-stopped", "on-failure")


class NamedVolume(Struct, frozen=True):
    """A named volume, and the directory in the container."""

    name: str
    target: str
    read_only: bool = False


class Container(Struct, frozen=True):
    """A service."""

    name: str
    image: str
    options: tuple[str, ...] = ()  # of "docker run"
    command: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    published: tuple[PublishedPort, ...] = ()
    volumes: tuple[NamedVolume, ...] = ()
    networks: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()


def container_of(
    name: str, service: Mapping[str, Any], path: Path, losses: Losses
) -> Container | None:
    """Return the container of a service; None for one without an image."""
    image = service.get("image")
    if not isinstance(image, str):
        message = "a server cannot build an image" if "build" in service else "there is no image"
        losses.add(path, message, "push the image to a registry, and name it with image")
        return None
    for key in service:
        known = {*_READ, *_OPTIONS, *_LISTS, *_FLAGS}
        if key not in known and not key.startswith("x-"):
            losses.add((*path, key), f'a server has nothing like "{key}"')
    _note_replicas(service, path, losses)
    options = list(_options(service, path, losses))
    entrypoint = _words(service.get("entrypoint"), (*path, "entrypoint"), losses)
    if entrypoint:
        options += ["--entrypoint", entrypoint[0]]
    command = _words(service.get("command"), (*path, "command"), losses)
    published = list(_ports(service, path, losses))
    for port in published:
        options += ["--publish", port.option]
    volumes = list(_volumes(service, options, path, losses))
    return Container(
        name=name,
        image=image,
        options=tuple(options),
        command=(*entrypoint[1:], *command),
        environment=tuple(pairs_of(service, "environment", path, losses)),
        published=tuple(published),
        volumes=tuple(volumes),
        networks=tuple(_networks(service, path, losses)),
        depends_on=tuple(_names(service, "depends_on", path, losses)),
        labels=tuple(_labels(service, path, losses)),
    )


def _ports(service: Mapping[str, Any], path: Path, losses: Losses) -> Iterator[PublishedPort]:
    for index, written in enumerate(list_in(service, "ports", path, losses)):
        here = (*path, "ports", index)
        port = port_of(written)
        if port is None:
            losses.add(here, "a port without a number on the server")
            continue
        if port.address and not port.is_local:
            message = f"a server has no address {port.address}"
            losses.add(here, message, "the port is published on all addresses of the server")
        yield port


def _names(service: Mapping[str, Any], key: str, path: Path, losses: Losses) -> Iterator[str]:
    """Yield the names in a list, or the keys of a map."""
    found = service.get(key)
    names = found if isinstance(found, Mapping) else list_in(service, key, path, losses)
    yield from map(str, names)


def _networks(service: Mapping[str, Any], path: Path, losses: Losses) -> Iterator[str]:
    found = service.get("networks")
    for name, settings in found.items() if isinstance(found, Mapping) else ():
        for key in settings if isinstance(settings, Mapping) else ():
            here = (*path, "networks", name, key)
            losses.add(here, f'a port of a server has nothing like "{key}"')
    for name in _names(service, "networks", path, losses):
        if NAME.fullmatch(name) is None:
            losses.add((*path, "networks"), f"{name} is no name of a network")
        else:
            yield name


def _note_replicas(service: Mapping[str, Any], path: Path, losses: Losses) -> None:
    deploy = map_in(service, "deploy", path, losses)
    for key in deploy:
        if key != "replicas":
            losses.add((*path, "deploy", key), f'a server has nothing like "{key}"')
    replicas = deploy.get("replicas", service.get("scale", 1))
    if replicas != 1:
        where = "deploy" if "replicas" in deploy else "scale"
        losses.add((*path, where), "one server is made", "use an OS::Heat::AutoScalingGroup")


def _options(service: Mapping[str, Any], path: Path, losses: Losses) -> Iterator[str]:
    for key, option in _OPTIONS.items():
        if key in service:
            yield from (option, str(service[key]))
    for key, option in _LISTS.items():
        found = service.get(key)
        for each in found if isinstance(found, list) else [found] if found else ():
            yield from (option, str(each))
    yield from (option for key, option in _FLAGS.items() if service.get(key) is True)
    restart = str(service.get("restart") or "unless-stopped")
    yield from ("--restart", restart if restart.startswith(_RESTARTS) else "unless-stopped")
    yield from _health(map_in(service, "healthcheck", path, losses))


def _health(check: Mapping[str, Any]) -> Iterator[str]:
    test = check.get("test")
    if check.get("disable") is True or test in (["NONE"], "NONE"):
        yield "--no-healthcheck"
    elif isinstance(test, list) and test[:1] == ["CMD"]:
        test = shlex.join(map(str, test[1:]))
    elif isinstance(test, list):
        test = " ".join(map(str, test[1:]))
    if isinstance(test, str) and test != "NONE":
        yield from ("--health-cmd", test)
        for key in ("interval", "timeout", "retries", "start_period"):
            if key in check:
                yield from (f"--health-{key.replace('_', '-')}", str(check[key]))


def _words(command: Any, path: Path, losses: Losses) -> tuple[str, ...]:
    if isinstance(command, list):
        return tuple(map(str, command))
    try:
        return tuple(words_of(str(command or "")))
    except ValueError as error:
        losses.add(path, f"it is not a command of a shell: {error}")
        return ()


def pairs_of(
    parent: Mapping[str, Any], key: str, path: Path, losses: Losses
) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a map, or of a list of KEY=VALUE."""
    written = parent.get(key)
    if isinstance(written, Mapping):
        for name, value in written.items():
            yield str(name), _inherited(str(name)) if value is None else _scalar(value)
        return
    for each in list_in(parent, key, path, losses):
        name, found, value = str(each).partition("=")
        yield name, value if found else _inherited(name)


def _labels(service: Mapping[str, Any], path: Path, losses: Losses) -> Iterator[tuple[str, str]]:
    labels = service.get("labels")
    if isinstance(labels, Mapping):
        labels = {key: "" if value is None else value for key, value in labels.items()}
    yield from pairs_of({**service, "labels": labels}, "labels", path, losses)


def _inherited(name: str) -> str:
    """Return the value of a variable that is that of the user's shell."""
    return f"${{{name}}}" if name.isidentifier() else ""


def _scalar(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _volumes(
    service: Mapping[str, Any], options: list[str], path: Path, losses: Losses
) -> Iterator[NamedVolume]:
    for index, volume in enumerate(list_in(service, "volumes", path, losses)):
        if isinstance(volume, Mapping):
            kind, source = volume.get("type"), volume.get("source")
            target, read_only = str(volume.get("target")), volume.get("read_only") is True
        else:
            source, target, mode = (*split_at_colons(str(volume)), "", "")[:3]
            read_only = "ro" in mode.split(",")
            is_bind = source.startswith((".", "/", "~", "$")) and target
            kind = "bind" if is_bind else "volume"
            if not target:
                options += ["--volume", source]  # an anonymous volume
                continue
        if kind == "tmpfs":
            options += ["--tmpfs", target]
        elif kind != "volume" or not source:
            message = f"{source} is a file of your machine, which servers do not have"
            losses.add((*path, "volumes", index), message, "put it into the image, or on a volume")
        elif NAME.fullmatch(str(source)) is None:
            losses.add((*path, "volumes", index), f"{source} is no name of a volume")
        else:
            yield NamedVolume(str(source), target, read_only)


def setup_script(
    container: Container,
    neighbours: list[str],
    volumes: list[NamedVolume],
    variables: Variables,
) -> tuple[str, dict[str, Any]]:
    """Return the user data of a server, and the values of variables in them.

    ``@ADDRESS_OF_x@`` and ``@VOLUME_x@`` stand for values of other resources.
    """
    command = ["docker", "run", "--detach", "--name", container.name, *container.options]
    mounts: list[str] = []
    for volume in volumes:
        mounts += _mount(volume)
        mode = ":ro" if volume.read_only else ""
        command += ["--volume", f"/srv/{volume.name}:{volume.target}{mode}"]
    for key, value in container.environment:
        command += ["--env", f"{key}={value}"]
    for neighbour in neighbours:
        command += ["--add-host", f"{neighbour}:@ADDRESS_OF_{neighbour}@"]
    used: set[str] = set()
    words = [variables.shell_word(each, used) for each in command]
    last = [variables.shell_word(each, used) for each in (container.image, *container.command)]
    lines, values = variables.assignments(used)
    options = " ".join(words[:2])
    for word in words[2:]:
        options += f" \\\n  {word}" if word.startswith("--") else f" {word}"
    script = [
        "#!/bin/sh",
        "set -eu",
        *lines,
        "command -v docker >/dev/null || { apt-get update && apt-get install -y docker.io; }",
        *mounts,
        f"{options} \\\n  {' '.join(last)}",
    ]
    return "\n".join(script) + "\n", values


def _mount(volume: NamedVolume) -> list[str]:
    return [
        f"_disk=/dev/disk/by-id/virtio-$(echo @VOLUME_{volume.name}@ | cut -c -20)",
        "until [ -e $_disk ]; do sleep 1; done",
        "blkid $_disk || mkfs.ext4 $_disk",
        f"mkdir -p /srv/{volume.name} && mount $_disk /srv/{volume.name}",
    ]
