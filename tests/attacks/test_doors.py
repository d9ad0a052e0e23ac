"""Attacks by those who can only connect, or who make the service connect for them."""

from __future__ import annotations

import contextlib
import socket

import httpx
import pytest

from tests.attacks.arena import Arena

MEBIBYTE = b"x" * (1 << 20)


def connected(arena: Arena) -> socket.socket:
    return socket.create_connection(("127.0.0.1", arena.service.port), timeout=20)


def test_silent_connections_do_not_exclude_others(arena: Arena) -> None:
    with contextlib.ExitStack() as held, arena.attacked(seconds=60) as attacker:
        for _ in range(600):
            connection = held.enter_context(connected(arena))
            with contextlib.suppress(OSError):
                connection.sendall(b"GET / HTTP/1.1\r\nX: ")
        assert attacker.ask("GET", "/stacks").status_code == 200


def test_a_header_without_end_costs_nothing(arena: Arena) -> None:
    sent = 0
    with (
        arena.attacked(mebibytes=30, seconds=30),
        connected(arena) as connection,
        contextlib.suppress(OSError),
    ):
        connection.sendall(b"GET / HTTP/1.1\r\nX: ")
        for _ in range(96):
            connection.sendall(MEBIBYTE)
            sent += 1
    assert sent < 90


def test_large_unsigned_body_is_not_read(arena: Arena) -> None:
    head = b"POST /cfn/v1/signal/arn HTTP/1.1\r\nHost: a\r\nContent-Length: 60000000\r\n\r\n"
    with (
        arena.attacked(mebibytes=30, seconds=30),
        connected(arena) as connection,
        contextlib.suppress(OSError),
    ):
        connection.sendall(head)
        for _ in range(60):
            connection.sendall(MEBIBYTE)


def test_template_url_errors_reveal_no_open_ports(arena: Arena) -> None:
    ports = (arena.service.port, arena.service.cloud_port, 1)
    said = set()
    with arena.attacked(seconds=30) as attacker:
        for port in ports:
            url = f"http://127.0.0.1:{port}/healthcheck"
            answer = attacker.ask("POST", "/stacks", {"stack_name": "s", "template_url": url})
            assert answer.status_code == 400
            said.add(answer.json()["error"]["message"].replace(url, "URL"))
    assert len(said) == 1


HALF = b"POST %b HTTP/1.1\r\nHost: a\r\nX-Auth-Token: %b\r\nContent-Length: 1000\r\n\r\n{"


@pytest.mark.parametrize("door", ["cloud", "rest"])
def test_half_bodies_keep_no_client_out(arena: Arena, door: str) -> None:
    service, person = arena.service, arena.attacker
    if door == "cloud":
        port, half = service.cloud_port, HALF % (b"/identity/v3/auth/tokens", b"")
    else:
        path = f"/v1/{person.project}/stacks".encode()
        port, half = service.port, HALF % (path, person.token.encode())
    with contextlib.ExitStack() as held, arena.attacked(seconds=120):
        for _ in range(1100):
            connection = socket.create_connection(("127.0.0.1", port), timeout=20)
            held.enter_context(connection)
            with contextlib.suppress(OSError):
                connection.sendall(half)
        token, _ = service.authenticate("stoker-admin")
        headers = {"X-Auth-Token": token}
        for _ in range(3):
            answer = httpx.get(
                f"{service.cloud_url}/identity/v3/users", headers=headers, timeout=20
            )
            assert answer.status_code == 200
