"""``text/part-handler``: Python code in user data that handles parts of its own types.

It runs in the server's own Python, because it may import modules that are installed there.
"""

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from localcloud.guest.cloud_init.instance import Instance
from localcloud.guest.cloud_init.parts import Part
from localcloud.guest.cloud_init.scripts import run_program, say

_DRIVER = """
import json, runpy, sys
module = runpy.run_path(sys.argv[1])
if sys.argv[2] == "types":
    with open(sys.argv[3], "w") as answer:
        json.dump(list(module["list_types"]()), answer)
else:
    handle = module["handle_part"]
    more = ("always",) if module.get("handler_version", 1) == 2 else ()
    with open(sys.argv[3]) as given:
        calls = json.load(given)
    for content_type, filename, payload in calls:
        if payload is not None:
            payload = payload.encode("latin-1")
            try:
                payload = payload.decode()
            except ValueError:
                pass
        handle(None, content_type, filename, payload, *more)
"""


def _drive(handler: Path, action: str, exchange: str, instance: Instance) -> bool:
    code = run_program(["python3", "-c", _DRIVER, str(handler), action, exchange], instance)
    if code != 0:
        say(f"user data: part handler {handler}: {action} ended with exit code {code}")
    return code == 0


def handled_types(handler: Path, instance: Instance) -> list[str]:
    """The content types that a handler takes; none when it fails."""
    descriptor, exchange = tempfile.mkstemp(dir="/run")
    os.close(descriptor)
    path = Path(exchange)
    try:
        if _drive(handler, "types", exchange, instance):
            types = json.loads(path.read_text() or "[]")
            return [str(name) for name in types] if isinstance(types, list) else []
        return []
    finally:
        path.unlink()


def handle(handler: Path, parts: Sequence[Part], instance: Instance) -> bool:
    """Pass its parts to a handler, between its calls ``__begin__`` and ``__end__``.

    Return whether it succeeded.
    """
    calls: list[tuple[str, str | None, str | None]] = [("__begin__", None, None)]
    # JSON has no bytes. Latin-1 maps each byte to one character, and back in the driver.
    calls += [(part.content_type, part.filename, part.payload.decode("latin-1")) for part in parts]
    calls.append(("__end__", None, None))
    descriptor, exchange = tempfile.mkstemp(dir="/run")
    with os.fdopen(descriptor, "w") as file:
        json.dump(calls, file)
    try:
        return _drive(handler, "handle", exchange, instance)
    finally:
        Path(exchange).unlink()
