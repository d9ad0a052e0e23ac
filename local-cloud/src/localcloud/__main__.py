"""The command ``localcloud``. It imports the modules of a command when the command is known.

``serve`` starts the fabric process before it loads the services, because both take a third of a
second.
"""

import gc
import importlib
import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from msgspec.structs import asdict

from localcloud.core.settings import IMAGE_NAMES, ForeignService, Settings, port_of
from localcloud.fabric.process.start import start_owner
from localcloud.process import background
from localcloud.process.addresses import AddressRange, AddressRangeError, claim_range
from localcloud.process.client_settings import NoCloudError, as_clouds_yaml, as_exports


def _default_data_dir() -> Path:
    """``$LOCALCLOUD_DATA_DIR``, else ``localcloud`` among the user's data."""
    given = os.environ.get("LOCALCLOUD_DATA_DIR")
    if given:
        return Path(given)
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "localcloud"


def _foreign(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    for text in given:
        kind, _equals, url = text.partition("=")
        if not kind or not url.startswith(("http://", "https://")):
            raise click.BadParameter(f'"{text}" is not of the form TYPE=http://...')
    return given


_data_dir = click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False, resolve_path=True),
    default=_default_data_dir,
    show_default="$LOCALCLOUD_DATA_DIR or ~/.local/share/localcloud",
    help="Directory of the cloud: its database, images and disks, and the passwords of its users.",
)

_SERVE_OPTIONS = (
    _data_dir,
    click.option("--host", default=Settings.host, show_default=True, help="Address to listen on."),
    click.option(
        "--port",
        type=click.IntRange(1, 65535),
        show_default=f"that of the last start, else {Settings.port}, or a free one",
        help="Port to listen on.",
    ),
    click.option(
        "--region", default=Settings.region, show_default=True, help="Name of the region."
    ),
    click.option(
        "--image-names",
        envvar=["LOCALCLOUD_IMAGE_NAMES", "STOKER_IMAGE_NAMES"],
        default=",".join(IMAGE_NAMES),
        metavar="NAME,NAME",
        show_default="those of widespread images, as debian and cirros",
        help="Further names of the built-in image ($LOCALCLOUD_IMAGE_NAMES).",
    ),
    click.option(
        "--image-hosts",
        envvar=["LOCALCLOUD_IMAGE_HOSTS", "STOKER_IMAGE_HOSTS"],
        default="",
        metavar="HOST,HOST",
        help="Whence images may be imported besides the Internet: names, .domain, addresses, ranges"
        " ($LOCALCLOUD_IMAGE_HOSTS).",
    ),
    click.option(
        "--token-seconds",
        type=click.IntRange(1),
        default=Settings.token_seconds,
        show_default=True,
        help="How long a token is valid.",
    ),
    click.option(
        "--object-bytes",
        type=click.IntRange(1),
        default=Settings.object_bytes,
        show_default=True,
        help="How long an object of the object store may be.",
    ),
    click.option(
        "--service",
        "services",
        multiple=True,
        callback=_foreign,
        metavar="TYPE=URL",
        help="Put a service that runs elsewhere into the catalog; can be given several times.",
    ),
    click.option(
        "--without-isolation",
        is_flag=True,
        envvar=["LOCALCLOUD_WITHOUT_ISOLATION", "STOKER_WITHOUT_ISOLATION"],
        help="Where servers cannot be isolated, run their user data on this machine itself, with"
        " all rights of this user; refused to root ($LOCALCLOUD_WITHOUT_ISOLATION).",
    ),
    click.option("--no-servers", is_flag=True, help="The APIs alone: servers cannot be booted."),
)


def _serve_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_SERVE_OPTIONS):
        command = option(command)
    return command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """An OpenStack on this machine: identity, images, objects, networks, and servers (namespaces).

    \b
    localcloud up             start it in the background
    eval "$(localcloud env)"  make the openstack command, in this shell, its user
    """


@main.command()
@_serve_options
@click.option(
    "--parent",
    type=int,
    metavar="PID",
    help="End when this process, which has started the cloud, does.",
)
@click.option(
    "--listen-fd",
    type=int,
    metavar="FD",
    help="An open socket to listen on, in place of a host and a port.",
)
def serve(parent: int | None, listen_fd: int | None, **given: Any) -> None:
    """Run the cloud in the foreground until Ctrl-C.

    Prints one line, "ready URL", when everything answers.
    """
    data_dir: Path = given["data_dir"]
    try:
        addresses = claim_range(data_dir / "cloud")
    except (AddressRangeError, OSError, ValueError) as error:
        raise click.ClickException(str(error)) from None
    with addresses.claim:
        listener = _listener(given) if listen_fd is None else socket.socket(fileno=listen_fd)
        sys.exit(_serve_at(addresses, parent, listener, given))


def _serve_at(
    addresses: AddressRange, parent: int | None, listener: socket.socket, given: dict[str, Any]
) -> int:
    data_dir: Path = given["data_dir"]
    host, port = listener.getsockname()[:2]
    settings = Settings(
        data_dir=data_dir,
        host=host,
        port=port,
        region=given["region"],
        foreign_services=tuple(ForeignService(*s.split("=", 1)) for s in given["services"]),
        token_seconds=given["token_seconds"],
        object_bytes=given["object_bytes"],
        floating_cidr=addresses.cidr,
        image_names=_named(given["image_names"]),
        image_hosts=_named(given["image_hosts"]),
        without_isolation=given["without_isolation"],
    )
    # What is loaded stays for good: collecting garbage meanwhile would find nothing.
    gc.disable()
    owner = None
    if not given["no_servers"]:
        owner = start_owner(settings.cloud_dir / "fabric", settings.addresses, (addresses.cidr,))
    serving = importlib.import_module("localcloud.process.serve")
    gc.freeze()
    gc.enable()
    return int(serving.run(settings, owner, parent, listener))


def _named(text: str) -> tuple[str, ...]:
    """The entries of a list with commas."""
    return tuple(entry.strip() for entry in text.split(",") if entry.strip())


def _listener(given: dict[str, Any]) -> socket.socket:
    """A socket at the port that was named; else at that of the last start, or at a free one."""
    if given["port"]:
        return _bound(given["host"], given["port"])
    usual = port_of(given["data_dir"]) or Settings.port
    try:
        return _bound(given["host"], usual)
    except click.ClickException:
        listener = _bound(given["host"], 0)
    port = listener.getsockname()[1]
    click.echo(f"port {usual} is taken; port {port} is used instead", err=True)
    return listener


def _bound(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # from now on no other process can use the port
    except OSError as error:
        listener.close()
        raise click.ClickException(
            f"cannot listen on {host} port {port}: {error.strerror}; stop what listens there,"
            " or choose another address with --host and --port"
        ) from error
    return listener


@main.command()
@_serve_options
def up(data_dir: Path, **_: Any) -> None:
    """Start the cloud in the background and say how to use it."""
    try:
        cloud = background.find(data_dir)
        if cloud is None:
            background.start(data_dir, _spelled(click.get_current_context()))
            cloud = background.find(data_dir)
    except background.StartError as error:
        raise click.ClickException(str(error)) from None
    if cloud is None:
        raise click.ClickException(f"the cloud has ended; {background.log_of(data_dir)} says why")
    env = "localcloud env"
    if data_dir != _default_data_dir().resolve():
        env += f" --data-dir {data_dir}"
    click.echo(f"""The cloud runs at {cloud.url} (process {cloud.pid}). To use it in this shell:

    eval "$({env})"
    openstack server create --image debian --flavor m1.tiny --network private first
    openstack console log show first

"localcloud down" ends it and its servers; "localcloud up" brings them back.""")


def _spelled(context: click.Context) -> list[str]:
    """The options of a command as they would be written for ``serve``."""
    words = []
    for option in context.command.params:
        value, name = context.params[option.name or ""], option.opts[0]
        if value is True:
            words.append(name)
        elif isinstance(value, tuple):
            words += [word for each in value for word in (name, each)]
        elif value not in (None, False):
            words += [name, str(value)]
    return words


@main.command()
@_data_dir
def down(data_dir: Path) -> None:
    """End the cloud and its servers; "up" brings them back."""
    cloud = background.find(data_dir)
    if cloud is None:
        click.echo(f"no cloud runs in {data_dir}")
    elif not background.stop(cloud):
        raise click.ClickException(
            f'process {cloud.pid} does not end; "kill -9 {cloud.pid}" ends it'
        )


@main.command()
@_data_dir
@click.option("--user", default="demo", show_default=True, help="demo or admin.")
@click.option(
    "--clouds-yaml",
    is_flag=True,
    help="A clouds.yaml with the clouds localcloud and localcloud-admin.",
)
def env(data_dir: Path, user: str, clouds_yaml: bool) -> None:
    """Print variables for the clients of OpenStack, or a clouds.yaml.

    \b
    Examples
      eval "$(localcloud env)"
      eval "$(localcloud env --user admin)"
      localcloud env --clouds-yaml > ~/.config/openstack/clouds.yaml
    """
    try:
        click.echo(
            as_clouds_yaml(data_dir) if clouds_yaml else as_exports(data_dir, user), nl=False
        )
    except NoCloudError as error:
        raise click.ClickException(str(error)) from None
    if background.find(data_dir) is None:
        click.echo('the cloud does not run; "localcloud up" starts it', err=True)


@main.command()
@click.option("--json", "as_json", is_flag=True, help="As a JSON object.")
def doctor(as_json: bool) -> None:
    """Print the capabilities of this machine for servers, and those that it lacks."""
    found = importlib.import_module("localcloud.fabric.probe").probe()
    click.echo(json.dumps(asdict(found), indent=2) if as_json else _report(found))
    sys.exit(0 if found.isolated and found.networks else 1)


def _report(capabilities: Any) -> str:
    found = {
        "servers in namespaces of their own": capabilities.isolated,
        "virtual networks": capabilities.networks,
        "security groups": capabilities.packet_filter,
        "copy-on-write disks": capabilities.overlay,
    }
    lines = [f"{'yes' if works else 'no ':<4} {what}" for what, works in found.items()]
    return "\n".join([*lines, *(f"     {sentence}" for sentence in capabilities.lacks)])


if __name__ == "__main__":
    main(prog_name="localcloud")
