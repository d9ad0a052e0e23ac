"""Whatever a user writes, a helper ends with a clear answer, within its limits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stoker.sandbox.sandbox import Sandbox
from stoker.schema.helpers import ComputationError, MalformedExpressionError

N = 10**15
DATA = {"list": [1, 2]}
TIME = "of computing"
ENDLESS = [
    f"range(0,{N}).len()",
    "sequence().len()",
    "[1,2].cycle().len()",
    "1.repeat().len()",
    f"[range(0,{N})].flatten().len()",
    "generate(1,true,1).len()",
    f"call(range,[0,{N}],{{}}).len()",
    f"pow({N},{N})",
    f"pow(9,9*{N})",
    "pow(pow(9,1000),pow(9,1000))",
    "range(0,199).select(range(0,190).select(range(0,190).select(range(0,190).sum()).sum()).sum())",
    "range(1000000000).accumulate([$])",
    f'regex("(a|aa)+$").matches("{"a" * 60}b")',
    f'regex("(a|aa)+$").searchAll("{"a" * 60}b")',
    f'"{"a" * 60}b" =~ "(a|aa)+$"',
    f'regex("(a|aa)+$").replace("{"a" * 60}b", "")',
]
LARGE = [
    "[1]*100000000",
    "[1,2]*100000000",
    "(([1]*10000)*10000)*100",
    "shiftBitsLeft(1,10000000000)",
    'regex("((((a{1000}){1000}){1000}){1000})").matches("a")',
    'regex("a{10000000}").matches("a")',
    "'x'*1000000000",
]
DEEP = ["def(f, f($)) -> f(1)", "def(f, [f($)]) -> f(1)", "(" * 3000 + "1" + ")" * 3000]
BOMBS = [
    "((((a{1000}){1000}){1000}){1000})",
    "a{10000000}",
    "(a{1000}){1000}",
    "(?:(?:a{999}){999}){999}",
    "(?R)",
]
BROKEN = ["(?V1)a", "[", "a{99999999999999999999}", "(" * 2000, r"\N{NOTHING}", "(?P<a", "a" * 5000]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    made = Sandbox(size=2)
    yield made
    made.close()


def refusal(sandbox: Sandbox, expression: str, data: Any = DATA) -> ComputationError:
    with pytest.raises(ComputationError) as caught:
        sandbox.evaluate(expression, data, 0.3)
    return caught.value


@pytest.mark.parametrize("expression", ENDLESS)
def test_an_endless_expression_is_ended(sandbox: Sandbox, expression: str) -> None:
    found = refusal(sandbox, expression)
    assert "0.3 s of computing" in found.message
    assert 0.15 < found.seconds < 1  # the kernel counts in ticks


@pytest.mark.parametrize("expression", LARGE)
def test_an_expression_that_takes_all_memory_is_ended(sandbox: Sandbox, expression: str) -> None:
    message = refusal(sandbox, expression).message
    assert "memory" in message or TIME in message


@pytest.mark.parametrize("expression", DEEP)
def test_an_expression_without_a_bottom_is_ended(sandbox: Sandbox, expression: str) -> None:
    assert refusal(sandbox, expression).message


def test_oversized_result_is_refused() -> None:
    sandbox = Sandbox(size=1, iterations=10**9, memory=10**9)
    repeated = f"let(a=>$.data) -> [{', '.join(['$a'] * 300)}]"
    try:
        with pytest.raises(ComputationError, match="has more than 200000 values"):
            sandbox.evaluate(repeated, [1] * 1000, 20.0)
    finally:
        sandbox.close()


def test_oversized_data_is_refused(sandbox: Sandbox) -> None:
    assert "its data has more than" in refusal(sandbox, "$.data", {"a": [0] * 300_000}).message
    assert "its data has more than" in refusal(sandbox, "$.data", "x" * 9_000_000).message
    deep: Any = 1
    for _ in range(500):
        deep = [deep]
    assert "levels" in refusal(sandbox, "$.data", deep).message


@pytest.mark.parametrize("pattern", BOMBS)
def test_a_pattern_that_takes_all_memory_is_ended(sandbox: Sandbox, pattern: str) -> None:
    with pytest.raises(ComputationError, match=r"256 MiB of memory|of computing"):
        sandbox.fit(pattern, ["a"], 0.5)


def test_backtracking_pattern_is_stopped(sandbox: Sandbox) -> None:
    with pytest.raises(ComputationError, match=r"0\.2 s of computing"):
        sandbox.fit("(a|aa)+", ["a" * 60 + "b"], 0.2)


@pytest.mark.parametrize("pattern", BROKEN)
def test_a_pattern_that_is_none_is_malformed(sandbox: Sandbox, pattern: str) -> None:
    with pytest.raises(MalformedExpressionError):
        sandbox.compile(pattern, 0.5)


def test_values_come_back_as_they_are(sandbox: Sandbox) -> None:
    data = {
        "text": "ä\N{GRINNING FACE}\ud800",
        "numbers": [1, -1.5, 2**100, True, None],
        1: {"\0pairs": [1], None: 2},
    }
    assert sandbox.evaluate("$.data", data, 1.0)[0] == data
    assert sandbox.evaluate("dict(1=>2, a=>[3])", {}, 1.0)[0] == {1: 2, "a": [3]}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (r'"a\n\x41\u00e9\N{EM DASH}"', "a\nA\xe9\u2014"),
        (r"'it\'s'", "it's"),
        (r'["a", "b"].join("\n")', "a\nb"),
        ('datetime("3.1.2020", "%d.%m.%Y").format("%A %B")', "Friday January"),
        ('datetime("20 May 2019 10:00 UTC").hour', 10),
        ('datetime(2020, 1, 2, offset => localtz()).format("%c %Z").len() > 20', True),
        (r'regex("(?i)\\bB(.)").replaceBy("a bc", $.value.toUpper())', "a BC"),
        ("characters(digits => true, hexdigits => true).len() + random(1, 1)", 23),
    ],
)  # fmt: skip
def test_expressions_need_no_inaccessible_file(
    sandbox: Sandbox, expression: str, value: Any
) -> None:
    assert sandbox.evaluate(expression, {}, 1.0)[0] == value


@pytest.mark.parametrize("expression", [r'"\N{NO SUCH}"', r'"\uZZZZ"', r'"\"', "[1", "1 +"])
def test_what_is_no_expression_is_malformed(sandbox: Sandbox, expression: str) -> None:
    before = sandbox.replaced
    with pytest.raises(MalformedExpressionError):
        sandbox.evaluate(expression, {}, 1.0)
    assert sandbox.replaced == before


def test_objects_of_the_library_are_no_results(sandbox: Sandbox) -> None:
    assert "an object" in refusal(sandbox, "now()").message
    assert "4096 bits" in refusal(sandbox, "pow(10,5000)").message


def test_next_job_finds_helper_after_any_failure(sandbox: Sandbox) -> None:
    refusal(sandbox, f"pow({N},{N})")
    assert sandbox.evaluate("1 + 1", {}, 1.0)[0] == 2


def children(of: int) -> list[int]:
    found = Path(f"/proc/{of}/task").glob("*/children")
    return [int(pid) for file in found for pid in file.read_text().split()]


def until(claim: Any, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_killed_helper_is_replaced_and_job_repeated() -> None:
    before = set(children(os.getpid()))
    sandbox = Sandbox(size=1)
    try:
        sandbox.evaluate("1", {}, 1.0)
        [helper] = set(children(os.getpid())) - before
        found: list[Any] = []
        busy = "range(0,190).select(range(0,60).sum()).sum()"
        job = threading.Thread(target=lambda: found.append(sandbox.evaluate(busy, {}, 20.0)))
        job.start()
        time.sleep(0.2)
        os.kill(helper, signal.SIGKILL)
        job.join(60)
        assert found[0][0] == 190 * 1770
        assert sandbox.replaced == 1
    finally:
        sandbox.close()
    until(lambda: set(children(os.getpid())) == before)


def test_idle_helpers_that_died_are_replaced() -> None:
    before = set(children(os.getpid()))
    sandbox = Sandbox(size=1)
    try:
        sandbox.evaluate("1", {}, 1.0)
        [helper] = set(children(os.getpid())) - before
        os.kill(helper, signal.SIGSEGV)
        until(lambda: Path(f"/proc/{helper}/stat").read_text().split()[2] == "Z")
        assert sandbox.evaluate("1 + 1", {}, 1.0)[0] == 2
    finally:
        sandbox.close()


def test_helpers_inherit_nothing_and_end_with_parent(tmp_path: Path) -> None:
    program = tmp_path / "parent.py"
    program.write_text(
        "import os, sys, threading\n"
        "from stoker.sandbox.sandbox import Sandbox\n"
        "kept = open(__file__); os.set_inheritable(kept.fileno(), True)\n"
        "sandbox = Sandbox()\n"
        "sandbox.evaluate('1', {}, 1.0)\n"
        "work = lambda: sandbox.evaluate('range(0,10000000000000).len()', {}, 60.0)\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "print('ready', flush=True); sys.stdin.read()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "SECRET": "hunter2"},
    )
    assert parent.stdin is not None
    assert parent.stdout is not None
    try:
        assert parent.stdout.readline() == b"ready\n"
        [helper] = children(parent.pid)
        place = Path(f"/proc/{helper}")
        limits = place.joinpath("limits").read_text()
        if os.geteuid() == 0:  # what is not dumpable belongs to root
            assert b"hunter2" not in place.joinpath("environ").read_bytes()
            assert {int(fd.name) for fd in place.joinpath("fd").iterdir()} == {0, 1, 2}
        [open_files] = [line for line in limits.splitlines() if line.startswith("Max open files")]
        assert open_files.split()[3] == "3"
        parent.kill()
        parent.wait()
        until(lambda: not place.exists() or place.joinpath("stat").read_text().split()[2] == "Z")
    finally:
        parent.kill()
        parent.stdin.close()
        parent.stdout.close()


def test_nothing_is_started_for_templates_without_expressions() -> None:
    before = children(os.getpid())
    Sandbox().close()
    assert children(os.getpid()) == before
