"""Services of Compose files as containers, and the script that starts one on a server."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from stoker.cli.authoring.conversion.losses import Losses
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
DOLLAR = "@DOLLAR@"  # stands for a dollar sign that starts no variable, which Compose writes as $$
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
    published: tuple[tuple[int, int, str], ...] = ()  # first and last port, protocol
    volumes: tuple[NamedVolume, ...] = ()
    networks: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()

    @property
    def texts(self) -> str:
        """Return all texts that may name variables."""
        values = [value for _, value in self.environment]
        return "\n".join([self.image, *self.options, *self.command, *values])


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
    published: list[tuple[int, int, str]] = []
    options = list(_options(service))
    for index, port in enumerate(service.get("ports") or ()):
        found = _port(port)
        if found is None:
            losses.add((*path, "ports", index), "a port without a number on the server")
            continue
        option, first, last, protocol = found
        options += ["--publish", option]
        published.append((first, last, protocol))
    volumes = list(_volumes(service, options, path, losses))
    return Container(
        name=name,
        image=image,
        options=tuple(options),
        command=_words(service.get("command")),
        environment=tuple(_pairs(service.get("environment"))),
        published=tuple(published),
        volumes=tuple(volumes),
        networks=tuple(service.get("networks") or ()),
        depends_on=tuple(service.get("depends_on") or ()),
        labels=tuple(_pairs(service.get("labels"))),
    )


def _note_replicas(service: Mapping[str, Any], path: Path, losses: Losses) -> None:
    deploy = service.get("deploy") or {}
    for key in deploy if isinstance(deploy, Mapping) else ():
        if key != "replicas":
            losses.add((*path, "deploy", key), f'a server has nothing like "{key}"')
    replicas = deploy.get("replicas", service.get("scale", 1))
    if replicas != 1:
        where = "deploy" if "replicas" in deploy else "scale"
        losses.add((*path, where), "one server is made", "use an OS::Heat::AutoScalingGroup")


def _options(service: Mapping[str, Any]) -> Iterator[str]:
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
    entrypoint = _words(service.get("entrypoint"))
    if entrypoint:
        yield from ("--entrypoint", " ".join(entrypoint))
    check = service.get("healthcheck") or {}
    test = check.get("test")
    if isinstance(test, list) and test[:1] in (["CMD"], ["CMD-SHELL"]):
        test = " ".join(map(str, test[1:]))
    if isinstance(test, str):
        yield from ("--health-cmd", test)
        for key in ("interval", "timeout", "retries"):
            if key in check:
                yield from (f"--health-{key}", str(check[key]))


def _words(command: Any) -> tuple[str, ...]:
    if isinstance(command, str):
        return tuple(shlex.split(command))
    return tuple(map(str, command or ()))


def _pairs(written: Any) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a map, or of a list of KEY=VALUE."""
    if isinstance(written, Mapping):
        for key, value in written.items():
            yield str(key), _scalar(value)
    for each in written if isinstance(written, list) else ():
        key, found, value = str(each).partition("=")
        # a variable without a value is that of the user's shell
        yield key, value if found else f"${{{key}}}"


def _scalar(value: Any) -> str:
    if value is None:
        return ""
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _port(port: Any) -> tuple[str, int, int, str] | None:
    """Return the option of a published port, its range on the server, and the protocol."""
    if isinstance(port, Mapping):
        published, target = port.get("published"), port.get("target")
        protocol = str(port.get("protocol") or "tcp")
        text = f"{published if published is not None else target}:{target}/{protocol}"
    else:
        text = str(port)
    numbers, _, protocol = text.partition("/")
    parts = numbers.split(":")
    published_text = parts[-2] if len(parts) > 1 else parts[-1]
    first, _, last = published_text.partition("-")
    if not first.isdecimal() or (last and not last.isdecimal()):
        return None
    option = f"{published_text}:{parts[-1]}/{protocol or 'tcp'}"
    return option, int(first), int(last or first), protocol or "tcp"


def _volumes(
    service: Mapping[str, Any], options: list[str], path: Path, losses: Losses
) -> Iterator[NamedVolume]:
    for index, volume in enumerate(service.get("volumes") or ()):
        if isinstance(volume, Mapping):
            kind, source = volume.get("type"), volume.get("source")
            target, read_only = str(volume.get("target")), volume.get("read_only") is True
        else:
            source, _, rest = str(volume).partition(":")
            target, _, mode = rest.partition(":")
            read_only = "ro" in mode.split(",")
            kind = "bind" if source.startswith((".", "/", "~")) and target else "volume"
            if not target:
                options += ["--volume", source]  # an anonymous volume
                continue
        if kind == "tmpfs":
            options += ["--tmpfs", target]
        elif kind != "volume" or not source:
            message = f"{source} is a file of your machine, which servers do not have"
            losses.add((*path, "volumes", index), message, "put it into the image, or on a volume")
        else:
            yield NamedVolume(str(source), target, read_only)


def setup_script(container: Container, neighbours: list[str], volumes: list[NamedVolume]) -> str:
    """Return the user data of a server.

    ``@ADDRESS_OF_x@`` and ``@VOLUME_x@`` stand for values of other resources.
    """
    lines = [
        "#!/bin/sh",
        "set -eu",
        "command -v docker >/dev/null || { apt-get update && apt-get install -y docker.io; }",
    ]
    command = ["docker", "run", "--detach", "--name", container.name, *container.options]
    for volume in volumes:
        lines += _mount(volume)
        mode = ":ro" if volume.read_only else ""
        command += ["--volume", f"/srv/{volume.name}:{volume.target}{mode}"]
    if container.environment:
        file = f"/etc/{container.name}.env"
        lines.append(f"cat > {file} <<'END'")
        lines += [f"{key}={value}" for key, value in container.environment]
        lines.append("END")
        command += ["--env-file", file]
    for neighbour in neighbours:
        command += ["--add-host", f"{neighbour}:@ADDRESS_OF_{neighbour}@"]
    command += [container.image, *container.command]
    lines.append(shlex.join(command))
    return "\n".join(lines).replace("$$", DOLLAR) + "\n"


def _mount(volume: NamedVolume) -> list[str]:
    return [
        f"_disk=/dev/disk/by-id/virtio-$(echo @VOLUME_{volume.name}@ | cut -c -20)",
        "until [ -e $_disk ]; do sleep 1; done",
        "blkid $_disk || mkfs.ext4 $_disk",
        f"mkdir -p /srv/{volume.name} && mount $_disk /srv/{volume.name}",
    ]
