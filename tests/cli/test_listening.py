"""The port of a service that was killed a moment ago."""

from __future__ import annotations

import socket
import threading

import pytest

from stoker.cli.commands.serve import listen_once_free
from stoker.cli.failures import CommandFailed


def test_a_port_that_becomes_free_at_once_is_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as dying:
        port = dying.getsockname()[1]
        end = threading.Timer(0.2, dying.close)
        end.start()
        with listen_once_free("127.0.0.1", port, "--port") as listener:
            assert listener.getsockname()[1] == port
        end.join()


def test_a_port_that_stays_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CommandFailed, match=f"port {port}"):
            listen_once_free("127.0.0.1", port, "--port")
