"""The password of a server's root, which a command in the server sets, as a guest agent would."""

import asyncio
import json
import os
import socket

from localcloud.fabric.interface import Execute, FabricError

_SECONDS = 20
_MOST_OUTPUT = 4096


async def set_root_password(execute: Execute, server_id: str, password: str) -> None:
    """Return when it is set. Raises :class:`FabricError` where it cannot be."""
    read_in, write_in = os.pipe()
    read_out, write_out = os.pipe()
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    os.set_blocking(read_out, False)
    try:
        with ours:
            with theirs:
                given = [read_in, write_out, write_out, theirs.fileno()]
                await execute(server_id, ["chpasswd"], "root", given)
            os.write(write_in, f"root:{password}\n".encode())
            os.close(write_in)
            write_in = -1
            async with asyncio.timeout(_SECONDS):
                answer = await asyncio.get_running_loop().sock_recv(ours, _MOST_OUTPUT)
        ended = json.loads(answer or b'{"error": "the server ended meanwhile"}')
        if ended.get("code") == 0:
            return
        said = _read(read_out) or ended.get("error") or f"exit code {ended['code']}"
        raise FabricError(f"chpasswd failed in the server: {said}")
    except (OSError, TimeoutError) as error:
        raise FabricError(f"the server did not take it: {error or 'no answer'}") from error
    finally:
        for descriptor in (read_in, read_out, write_out, write_in):
            if descriptor >= 0:
                os.close(descriptor)


def _read(descriptor: int) -> str:
    try:
        return os.read(descriptor, _MOST_OUTPUT).decode(errors="replace").strip()
    except BlockingIOError:
        return ""
