"""The port of a service that was killed a moment ago."""

from __future__ import annotations

import socket
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from stoker.cli.commands import serve
from stoker.cli.commands.serve import listen_for_apis, listen_once_free
from stoker.cli.console.failures import CommandError
from stoker.cli.local.serve_options import ServeOptions, port_of


def test_port_that_becomes_free_soon_is_awaited() -> None:
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
        with pytest.raises(CommandError, match=f"port {port}"):
            listen_once_free("127.0.0.1", port, "--port")


@pytest.mark.parametrize("local_cloud", [True, False])
def test_only_local_cloud_service_changes_its_port(
    local_cloud: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, ExitStack() as closing:
        usual = taken.getsockname()[1]
        monkeypatch.setattr(serve, "DEFAULT_API_PORT", usual)
        monkeypatch.setattr(serve, "_FREED_WITHIN", 0)
        options = ServeOptions(tmp_path, cfn_port=0, cloudwatch_port=0, local_cloud=local_cloud)
        if local_cloud:
            assert port_of(listen_for_apis(options, None, closing).api) != usual
        else:
            with pytest.raises(CommandError, match=f"port {usual}"):
                listen_for_apis(options, None, closing)
