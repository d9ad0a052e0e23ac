"""Long documents of JSON are read and written as Python's own reader and writer do, in pieces."""

from __future__ import annotations

import gc
import json
import random
import threading
import time
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest

from stoker.kernel.json import long
from stoker.kernel.json import text as json_text

LONG = 150_000
MOST_SECONDS = 0.05  # of processor time that another thread waits


def refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def read(text: str) -> Any:
    return long.read(text, refuse)


def write(value: Any) -> str:
    return "".join(long.pieces(value, json.dumps))


def dice(seed: int, size: int) -> Any:
    """Return a value of about this many characters, with every kind of JSON."""
    chance = random.Random(seed)
    letters = 'aé€😀"\\\n\t/ {}[],:'

    def text(most: int) -> str:
        return "".join(chance.choices(letters, k=chance.randrange(most)))

    def value(left: int) -> Any:
        kind = chance.randrange(12 if left > 30 else 6)
        scalars = (None, True, chance.random() * 1e9, chance.randrange(10**18), "", text(20))
        if kind < 6:
            return scalars[kind]
        if kind == 6:
            return text(left)
        parts = chance.choice((2, 5, 50))
        if kind % 2:
            return [value(left // parts) for _ in range(parts)]
        return {text(8): value(left // parts) for _ in range(parts)}

    return [value(size) for _ in range(3)]


@pytest.mark.parametrize("seed", range(6))
def test_what_is_written_is_read_as_python_does(seed: int) -> None:
    value, indent = dice(seed, LONG), seed % 2 or None
    for ascii_only in (True, False):
        text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
        assert read(text) == value
    assert json.loads(write(value)) == value


LONG_TEXTS = {
    "a pair at the seam": '"' + "a" * (long.WINDOW - 7) + "\\ud83d\\ude00" * 3 + '"',
    "pairs at each place": '"' + "\\ud83d\\ude00x" * 50_000 + '"',
    "half a pair": '"' + "b" * LONG + "\\ud83d\\n" + "c" * LONG + '"',
    "backslashes": '"' + "\\\\" * LONG + '"',
    "numbers": "[" + "1234567.5e3," * 30_000 + "0]",
    "words": "[" + "true,null," * 30_000 + "false]",
    "long keys": json.dumps({"k" * LONG: 1, "l" * LONG: {}}),
    "twice the same key": '{"a": 1,' + '"b": "x",' * 20_000 + '"a": 2}',
    "spaces": " [ " + " " * LONG + "1 ,\n" + " " * LONG + "2 ] \n",
}


@pytest.mark.parametrize("what", LONG_TEXTS)
def test_a_long_text_is_read_as_python_does(what: str) -> None:
    assert read(LONG_TEXTS[what]) == json.loads(LONG_TEXTS[what])


@pytest.mark.parametrize("many", [3, 20_000])
def test_repeated_keys_are_reported(many: int) -> None:
    texts = "".join(f'"{number}": "x", ' for number in range(many))
    repeated: list[str] = []
    long.read(f'[{{{texts}"2": "y", "b": {{"c": 1, "c": 2}}}}]', refuse, repeated=repeated.append)
    assert set(repeated) == {"2", "c"}


FAULTS = {
    "no end": "[" + "1," * LONG,
    "no end of a text": '["' + "a" * LONG,
    "a comma too many": "[" + "1," * LONG + "]",
    "no comma": "[" + "1," * LONG + '1 "a"]',
    "no colon": "{" + '"a": [],' * LONG + '"a" 1}',
    "no key": "{" + '"a": [],' * LONG + "1: 1}",
    "a control character": '["' + "a" * LONG + "\n" + '"]',
    "no escape": '["' + "a" * LONG + '\\x"]',
    "half an escape": '["' + "a" * LONG + '\\u12"]',
    "more than one": "[" + "1," * LONG + "1] 2",
}


@pytest.mark.parametrize("what", FAULTS)
def test_fault_in_long_text_is_that_of_python(what: str) -> None:
    with pytest.raises(json.JSONDecodeError) as expected:
        json.loads(FAULTS[what])
    with pytest.raises(json.JSONDecodeError) as told:
        read(FAULTS[what])
    assert (told.value.pos, told.value.msg) == (expected.value.pos, expected.value.msg)


def test_words_that_json_does_not_have_are_refused() -> None:
    with pytest.raises(ValueError, match="NaN is no JSON number"):
        read("[" + "1," * LONG + "NaN]")


def test_what_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(RecursionError):
        read("[" * LONG + "]" * LONG)


@pytest.mark.parametrize("value", ["[]", "1", '{"a":1}', '"a,b,c,d,e"'])
def test_more_values_than_are_allowed_are_refused(value: str) -> None:
    most = 40_000
    count = most // (2 if value[0] in "[{" else 1) - 1
    assert len(long.read("[" + f"{value}," * count + "0]", refuse, most)) == count + 1
    with pytest.raises(ValueError, match="more than 40000 values"):
        long.read("[" + f"{value}," * (count + 1) + "0]", refuse, most)


def test_other_mappings_are_given_to_the_writer() -> None:
    def plain(value: Any) -> Any:
        return dict(value) if isinstance(value, MappingProxyType) else sorted(value)

    inner = MappingProxyType({str(n): {"b", "a"} for n in range(20_000)})
    value = {"inner": inner, "tuple": (1, 2)}
    text = "".join(long.pieces(value, lambda part: json.dumps(part, default=plain)))
    assert json.loads(text) == json.loads(json.dumps(value, default=plain))


@pytest.mark.parametrize("value", [[], {}, "", [[]] * 20_000, {"a": {}}, {1: 2, None: 3}])
def test_empty_values_are_written_as_by_python(value: Any) -> None:
    assert json.loads(write(value)) == json.loads(json.dumps(value))


class Other:
    """A thread that wants its turn all the time, and the longest processor time it went without."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._wait, daemon=True)

    def _wait(self) -> None:
        while not self._over.is_set():
            before = time.process_time()
            time.sleep(0.0005)
            self.longest = max(self.longest, time.process_time() - before)

    def during(self, call: Callable[[], Any]) -> float:
        gc.disable()  # how long a collection takes depends on the tests that ran before
        try:
            self._thread.start()
            call()
            self._over.set()
            self._thread.join()
        finally:
            gc.enable()
        return self.longest


LARGE: dict[str, Any] = {
    "maps": [{"ab": 1}] * 100_000,
    "keys": {str(n): n for n in range(100_000)},
    "numbers": [1.5] * 300_000,
    "a text": {"a": "é\n" * 2_000_000},
    "lists of lists": [[[1] * 100] * 500] * 19,
    "texts to escape": ['\n"' * 500] * 9_000,
}


def waits_are_short(call: Callable[[], Any]) -> bool:
    """Return whether one of five measurements is short: a machine that stalls lengthens others."""
    return any(Other().during(call) < MOST_SECONDS for _ in range(5))


@pytest.mark.parametrize("what", LARGE)
def test_other_threads_run_while_long_json_is_processed(what: str) -> None:
    value = LARGE[what]
    text = json.dumps(value)
    assert waits_are_short(lambda: read(text))
    assert waits_are_short(lambda: list(long.pieces(value, json.dumps)))
    assert waits_are_short(lambda: json_text.loads(text))
    assert waits_are_short(lambda: json_text.dumps(value))


def test_lists_inside_small_maps_are_written_in_pieces() -> None:
    value = {"a": {"b": [{"ab": [1, {"c": "d"}, 2, 3]}] * 800_000}}
    assert waits_are_short(lambda: list(long.pieces(value, json.dumps)))


@pytest.mark.parametrize("value", [[[1] * 6_000], {"a": {"b": ["x"] * 6_000}}, "x" * 400_000])
def test_long_values_are_recognized(value: Any) -> None:
    assert not long.is_short(value)
    assert long.is_short({"a": [1, "b", None], "c": {"d": 1.5}})


@pytest.mark.parametrize(("length", "most_pieces"), [(600, 300), (6_000, 14_000)])
@pytest.mark.parametrize("keyed", [False, True])
def test_neighbours_of_long_members_share_pieces(
    keyed: bool, length: int, most_pieces: int
) -> None:
    many = [[1] * length if number % 100 == 50 else {"a": "b"} for number in range(20_000)]
    value = {str(number): each for number, each in enumerate(many)} if keyed else many
    found = list(long.pieces(value, lambda part: json.dumps(part, separators=(",", ":"))))
    assert "".join(found) == json.dumps(value, separators=(",", ":"))
    assert len(found) < most_pieces
