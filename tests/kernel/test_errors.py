"""Faults, as users see them."""

from __future__ import annotations

from stoker.kernel.errors import fault_reason


def test_fault_reason_has_first_line_only() -> None:
    assert fault_reason(KeyError("a")) == "fault in the service: KeyError: 'a'"
    assert fault_reason(ValueError("bad\n[SQL: INSERT]")) == "fault in the service: ValueError: bad"
    assert fault_reason(ValueError()) == "fault in the service: ValueError: "
    assert len(fault_reason(ValueError("x" * 9999))) < 400
