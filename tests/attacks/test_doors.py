"""Attacks by those who can only connect, or who make the service connect for them."""

from __future__ import annotations

import contextlib
import socket

from tests.attacks.arena import Arena

MEBIBYTE = b"x" * (1 << 20)


def connected(arena: Arena) -> socket.socket:
    return socket.create_connection(("127.0.0.1", arena.service.port), timeout=20)


def test_connections_that_say_nothing_keep_nobody_out(arena: Arena) -> None:
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


def test_a_large_body_without_a_signature_is_not_read(arena: Arena) -> None:
    head = b"POST /cfn/v1/signal/arn HTTP/1.1\r\nHost: a\r\nContent-Length: 60000000\r\n\r\n"
    with (
        arena.attacked(mebibytes=30, seconds=30),
        connected(arena) as connection,
        contextlib.suppress(OSError),
    ):
        connection.sendall(head)
        for _ in range(60):
            connection.sendall(MEBIBYTE)


def test_template_addresses_do_not_tell_which_ports_answer(arena: Arena) -> None:
    ports = (arena.service.port, arena.service.cloud_port, 1)
    said = set()
    with arena.attacked(seconds=30) as attacker:
        for port in ports:
            url = f"http://127.0.0.1:{port}/healthcheck"
            answer = attacker.ask("POST", "/stacks", {"stack_name": "s", "template_url": url})
            assert answer.status_code == 400
            said.add(answer.json()["error"]["message"].replace(url, "URL"))
    assert len(said) == 1
