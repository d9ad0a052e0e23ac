"""Properties that are computed once for each object."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from stoker.kernel.lazy import defer, lazy


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


def test_deferred_library_is_executed_on_first_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "deferred_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "inner.py").write_text("VALUE = 1")
    (tmp_path / "deferred_module.py").write_text("VALUE = 2")
    (tmp_path / "user.py").write_text("import deferred_module\nfrom deferred_package import inner")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("deferred_module", "deferred_package.inner", "no_such_library"):
        defer(name)
    import user  # type: ignore[import-not-found]

    deferred = [sys.modules["deferred_module"], sys.modules["deferred_package.inner"]]
    assert not any("VALUE" in vars(module) for module in deferred)
    assert (user.deferred_module.VALUE, user.inner.VALUE) == (2, 1)
    assert all("VALUE" in vars(sys.modules[module.__name__]) for module in deferred)
    assert "no_such_library" not in sys.modules
