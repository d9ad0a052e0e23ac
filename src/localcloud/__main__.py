"""The command ``python -m localcloud``."""

import argparse
import os
import sqlite3
import sys
from pathlib import Path

from localcloud.fabric.choose import fabric_for
from localcloud.fabric.interface import Capabilities, FabricError
from localcloud.fabric.probe import probe
from localcloud.no_fabric import NoFabric
from localcloud.serve import AddressInUse, serve
from localcloud.settings import ForeignService, Settings


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code."""
    options = _parser().parse_args(arguments)
    return int(options.run(options))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="localcloud", description="A cloud on this machine.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", help="run the cloud until it is told to stop")
    serve.add_argument("--data-dir", type=Path, required=True, help="where everything is kept")
    serve.add_argument("--host", default=Settings.host, help="address to listen on")
    serve.add_argument("--port", type=_port, default=Settings.port, help="port to listen on")
    serve.add_argument("--region", default=Settings.region, help="name of the region")
    serve.add_argument("--token-seconds", type=int, default=Settings.token_seconds)
    serve.add_argument(
        "--service",
        type=_foreign,
        action="append",
        default=[],
        metavar="TYPE=URL",
        help="put a service that runs elsewhere into the catalog",
    )
    serve.add_argument(
        "--parent",
        type=int,
        default=os.getppid(),
        metavar="PID",
        help="the process that has started this one: its end is the end of the cloud",
    )
    serve.add_argument(
        "--no-servers", action="store_true", help="serve the APIs alone: servers cannot be booted"
    )
    serve.set_defaults(run=_serve)
    doctor = commands.add_parser("doctor", help="say what this machine allows and what it lacks")
    doctor.set_defaults(run=_doctor)
    return parser


def _serve(options: argparse.Namespace) -> int:
    settings = Settings(
        data_dir=options.data_dir.resolve(),
        host=options.host,
        port=options.port,
        region=options.region,
        foreign_services=tuple(options.service),
        token_seconds=options.token_seconds,
    )
    state = settings.cloud_dir / "fabric"
    fabric = NoFabric() if options.no_servers else fabric_for(state, settings.addresses)
    try:
        serve(settings, fabric, options.parent)
    except (AddressInUse, FabricError, OSError, sqlite3.Error) as error:
        print(f"localcloud: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


def _doctor(options: argparse.Namespace) -> int:
    capabilities = probe()
    print(_report(capabilities))  # noqa: T201
    return 0 if capabilities.isolated and capabilities.networks else 1


def _report(capabilities: Capabilities) -> str:
    found = {
        "servers in namespaces of their own": capabilities.isolated,
        "virtual networks": capabilities.networks,
        "security groups": capabilities.packet_filter,
        "copy-on-write disks": capabilities.overlay,
    }
    lines = [f"{'yes' if works else 'no ':<4} {what}" for what, works in found.items()]
    return "\n".join([*lines, *(f"     {sentence}" for sentence in capabilities.lacks)])


def _port(text: str) -> int:
    port = int(text)
    if not 0 < port < 65536:
        raise ValueError
    return port


def _foreign(text: str) -> ForeignService:
    kind, _, url = text.partition("=")
    if not kind or not url.startswith(("http://", "https://")):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form TYPE=http://...")
    return ForeignService(kind, url)


if __name__ == "__main__":
    sys.exit(main())
