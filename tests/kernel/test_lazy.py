"""Properties that are computed once for each object."""

from __future__ import annotations

import threading

from stoker.kernel.lazy import lazy


class Slow:
    def __init__(self, gate: threading.Event | None = None) -> None:
        self.gate = gate
        self.begun = threading.Event()
        self.count = 0

    @lazy
    def value(self) -> int:
        """A value."""
        self.begun.set()
        if self.gate is not None:
            assert self.gate.wait(20)
        self.count += 1
        return self.count

    @lazy
    def twice(self) -> int:
        """Another one, made of it."""
        return 2 * self.value


def test_value_is_computed_once_by_concurrent_readers() -> None:
    gate = threading.Event()
    slow = Slow(gate)
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(slow.twice)) for _ in range(4)]
    for thread in threads:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join(20)
    assert found == [2] * 4
    assert slow.count == 1


def test_an_object_does_not_wait_for_another() -> None:
    gate = threading.Event()
    slow = Slow(gate)
    waiting = threading.Thread(target=lambda: slow.value)
    waiting.start()
    try:
        assert slow.begun.wait(20)
        answered = threading.Event()
        other = threading.Thread(target=lambda: (Slow().value, answered.set()))
        other.start()
        assert answered.wait(10), "it waits for the value of another object"
    finally:
        gate.set()
        waiting.join(20)
        other.join(20)
