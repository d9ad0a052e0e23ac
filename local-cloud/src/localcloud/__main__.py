"""The command ``python -m localcloud``: loads what a command needs once that is known.

``serve`` forks the fabric process before it loads the services: both take a third of a second.
"""

import argparse
import gc
import importlib
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from localcloud.addresses import AddressRange, NoAddresses, claim_range
from localcloud.fabric.interface import Capabilities
from localcloud.fabric.probe import probe
from localcloud.fabric.start import start_owner
from localcloud.settings import IMAGE_NAMES, ForeignService, Settings


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
    serve.add_argument(
        "--image-names",
        default=os.environ.get("STOKER_IMAGE_NAMES", ",".join(IMAGE_NAMES)),
        metavar="NAME,NAME",
        help="further names of the built-in image, as templates use them (STOKER_IMAGE_NAMES)",
    )
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
    doctor.add_argument("--json", action="store_true", help="as a JSON object")
    doctor.set_defaults(run=_doctor)
    return parser


def _serve(options: argparse.Namespace) -> int:
    try:
        addresses = claim_range(options.data_dir.resolve() / "cloud")
    except (NoAddresses, OSError, ValueError) as error:
        print(f"localcloud: {error}", file=sys.stderr)  # noqa: T201
        return 1
    with addresses.claim:
        return _serve_at(addresses, options)


def _serve_at(addresses: AddressRange, options: argparse.Namespace) -> int:
    settings = Settings(
        data_dir=options.data_dir.resolve(),
        host=options.host,
        port=options.port,
        region=options.region,
        foreign_services=tuple(options.service),
        token_seconds=options.token_seconds,
        floating_cidr=addresses.cidr,
        image_names=tuple(name.strip() for name in options.image_names.split(",") if name.strip()),
    )
    # What is loaded stays: looking for garbage in it would take a tenth of the time.
    gc.disable()
    owner = None
    if not options.no_servers:
        owner = start_owner(settings.cloud_dir / "fabric", settings.addresses, (addresses.cidr,))
    serving = importlib.import_module("localcloud.serve")
    gc.freeze()
    gc.enable()
    return int(serving.run(settings, owner, options.parent))


def _doctor(options: argparse.Namespace) -> int:
    capabilities = probe()
    text = json.dumps(asdict(capabilities), indent=2) if options.json else _report(capabilities)
    print(text)  # noqa: T201
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
