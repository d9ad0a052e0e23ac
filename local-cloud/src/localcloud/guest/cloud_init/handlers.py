"""``text/part-handler``: Python code in user data that handles parts of its own types.

It runs in the server's own Python, because it may import modules that are installed there.

Nearly every server of Stoker has a handler for the files of heat-cfntools. The processor can write
them itself, so it starts no Python for this handler.
"""

import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from localcloud.guest.cloud_init.instance import Instance
from localcloud.guest.cloud_init.parts import Part
from localcloud.guest.cloud_init.scripts import run_program, say

# Each boot of a server starts this, so it imports nothing: values are exchanged as literals.
_DRIVER = """
import sys
path, exchange = sys.argv[1:]
with open(exchange) as given:
    parts = eval(given.read())
module = {"__name__": "part_handler", "__file__": path}
with open(path, "rb") as source:
    exec(compile(source.read(), path, "exec"), module)
types = [str(name) for name in module["list_types"]()]
with open(exchange, "w") as answer:
    answer.write("\\n".join(types))
handle = module["handle_part"]
more = ("always",) if module.get("handler_version", 1) == 2 else ()
handle(None, "__begin__", None, None, *more)
for content_type, filename, payload in parts:
    if content_type in types:
        try:
            payload = payload.decode()
        except ValueError:
            pass
        handle(None, content_type, filename, payload, *more)
handle(None, "__end__", None, None, *more)
"""

# SHA-256 of handlers that write each part of the type ``text/x-cfninitdata`` to its place.
_KNOWN = frozenset({"cb2acdb1f1a9f2b3c0e5194da0440ab3c7d92084953b0739414ecd9aa5f7db4e"})


def is_known(source: bytes) -> bool:
    """Return whether the processor can do the work of a handler itself."""
    return hashlib.sha256(source.strip()).hexdigest() in _KNOWN


def handle(handler: Path, parts: Sequence[Part], instance: Instance) -> tuple[Sequence[Part], int]:
    """Pass the parts of its types to a handler, between its calls ``__begin__`` and ``__end__``.

    Returns the parts of other types, and the exit code; after a failure not all may be handled.
    """
    offered = [(part.content_type, part.filename, part.payload) for part in parts]
    descriptor, exchange = tempfile.mkstemp(dir="/run")
    path = Path(exchange)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(repr(offered))
        code = run_program(["python3", "-c", _DRIVER, str(handler), exchange], instance)
        answer = path.read_text()
    finally:
        path.unlink()
    # A handler that has failed before it could name its types has left the file as it was.
    taken = () if answer == repr(offered) else answer.splitlines()
    if code != 0:
        say(f"user data: part handler {handler} ended with exit code {code}")
    return [part for part in parts if part.content_type not in taken], code
