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
    """Passes bytes between client and server, on a socket of its own."""

    def __init__(self, server: Path) -> None:
        self.place = Path(tempfile.mkdtemp(prefix="stoker-cut-"))
        self.cuts = 0  # commits that are done although the client gets no answer
        self.round_trips = 0  # requests of the client that waited for an answer
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
            committing, answered = threading.Event(), threading.Event()
            answered.set()
            for pump in (self._to_server, self._to_client):
                ends = (client, server, committing, answered)
                threading.Thread(target=pump, args=ends, daemon=True).start()

    def _to_server(
        self,
        client: socket.socket,
        server: socket.socket,
        committing: threading.Event,
        answered: threading.Event,
    ) -> None:
        with contextlib.suppress(OSError):
            while said := client.recv(1 << 16):
                with self._lock:
                    self.round_trips += answered.is_set()
                    answered.clear()
                if _COMMIT in said:
                    committing.set()
                server.sendall(said)
        _close(client)
        _close(server)

    def _to_client(
        self,
        client: socket.socket,
        server: socket.socket,
        committing: threading.Event,
        answered: threading.Event,
    ) -> None:
        with contextlib.suppress(OSError):
            while said := server.recv(1 << 16):
                answered.set()
                if committing.is_set() and _COMMIT in said:
                    committing.clear()
                    if self._takes():
                        break
                client.sendall(said)
        _close(client)
        _close(server)

    def _takes(self) -> bool:
        """Return whether the answer to a commit is one of those to lose."""
        with self._lock:
            if not self._wanted:
                return False
            self._wanted -= 1
            self.cuts += 1
            return True


def _close(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
