"""Connections to PostgreSQL that break after a commit and before its answer."""

from __future__ import annotations

import contextlib
import shutil
import socket
import tempfile
import threading
from pathlib import Path

_SOCKET = ".s.PGSQL.5432"
_COMMIT = b"COMMIT"


class CutConnections:
    """Passes on what client and server say to each other, on a socket of its own."""

    def __init__(self, server: Path) -> None:
        self.place = Path(tempfile.mkdtemp(prefix="stoker-cut-"))
        self.cuts = 0
        """So many commits were done, of which the client has not heard."""
        self._server = str(server / _SOCKET)
        self._wanted = 0
        self._lock = threading.Lock()
        self._listener = socket.socket(socket.AF_UNIX)
        self._open: set[socket.socket] = set()

    def cut(self, commits: int) -> None:
        """Lose the answers to the next commits."""
        with self._lock:
            self._wanted = commits

    def __enter__(self) -> CutConnections:
        self._listener.bind(str(self.place / _SOCKET))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for end in (self._listener, *self._open):
            _close(end)
        shutil.rmtree(self.place)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            self._open |= {client, server}
            try:
                server.connect(self._server)
            except OSError:
                _close(client)
                _close(server)
                continue
            losing = threading.Event()
            for pump in (self._to_server, self._to_client):
                threading.Thread(target=pump, args=(client, server, losing), daemon=True).start()

    def _to_server(
        self, client: socket.socket, server: socket.socket, losing: threading.Event
    ) -> None:
        with contextlib.suppress(OSError):
            while said := client.recv(1 << 16):
                with self._lock:
                    if _COMMIT in said and self._wanted:
                        self._wanted -= 1
                        losing.set()
                server.sendall(said)
        _close(client)
        _close(server)

    def _to_client(
        self, client: socket.socket, server: socket.socket, losing: threading.Event
    ) -> None:
        with contextlib.suppress(OSError):
            while said := server.recv(1 << 16):
                if losing.is_set() and _COMMIT in said:
                    with self._lock:
                        self.cuts += 1
                    break
                client.sendall(said)
        _close(client)
        _close(server)


def _close(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
