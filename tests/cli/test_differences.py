"""Differences between two versions of a value."""

from __future__ import annotations

from typing import Any

import click
import pytest

from stoker.cli.differences import difference, instead_of

RULE = {"protocol": "tcp", "port_range_min": 80, "port_range_max": 80, "description": None}
ICMP = {"protocol": "icmp", "direction": "ingress", "remote_ip_prefix": "10.0.0.0/24"}
SCRIPT = "#!/bin/sh\ncd /srv/www\necho Hello > index.html\nexec server\n"


def shown(old: Any, new: Any) -> list[str]:
    return [click.unstyle(line) for line in difference("value", old, new)]


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        (1, 2, ["value: 1 -> 2"]),
        (None, "x", ['value: (none) -> "x"']),
        (
            f"{'a' * 100} old",
            f"{'a' * 100} new",
            ['value: ...aaaaaaaaaaa old" -> ...aaaaaaaaaaa new"'],
        ),
        (
            SCRIPT,
            SCRIPT.replace("Hello", "Good morning"),
            ["value:", "  - echo Hello > index.html", "  + echo Good morning > index.html"],
        ),
        (SCRIPT, f"{SCRIPT}# end\n", ["value:", "  + # end"]),
        ([1, 2], [2, 3], ["value: [1, 2] -> [2, 3]"]),
        (
            [RULE, ICMP],
            [RULE, {**ICMP, "protocol": "udp"}],
            [
                "value:",
                "  - protocol: icmp, direction: ingress, remote_ip_prefix: 10.0.0.0/24",
                "  + protocol: udp, direction: ingress, remote_ip_prefix: 10.0.0.0/24",
            ],
        ),
        (
            [RULE, ICMP],
            [ICMP, RULE],
            ["value: items -> the same items in another order"],
        ),
        (
            {"server": {"user_data": "a", "name": "n"}},
            {"server": {"user_data": "b", "name": "n"}, "more": 1},
            ['value.server.user_data: "a" -> "b"', "value.more: (none) -> 1"],
        ),
        ({"a": None}, {}, ['value: {"a": null} -> {}']),
        ("******", "******", ["value: changes only in secrets, which are masked"]),
        (1, 1, ["value: 1 is set again"]),
    ],
)
def test_difference_shows_only_what_differs(old: Any, new: Any, lines: list[str]) -> None:
    assert shown(old, new) == lines


def test_long_difference_is_cut_and_counts_the_rest() -> None:
    old, new = "\n".join(map(str, range(50))), "\n".join(map(str, range(100, 150)))
    lines = shown(old, new)
    assert len(lines) == 20
    assert lines[-1] == "  ... and 82 more lines"


def test_live_value_is_shown_before_the_applied_one() -> None:
    assert difference("name", "a", "b", instead_of) == ['name: "b" instead of "a"']
