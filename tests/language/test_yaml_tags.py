"""Values of YAML's own tags, which templates keep as lists and text."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.kernel.diagnostics import DiagnosticError
from stoker.template.source.source import read


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("!!binary aGVsbG8=", "hello"),
        ("!!binary ''", ""),
        ("!!omap [a: 1, b: 2]", [["a", 1], ["b", 2]]),
        ("!!pairs [a: 1, a: 2]", [["a", 1], ["a", 2]]),
        ("!!set {b, a}", ["b", "a"]),
    ],
)
def test_a_tagged_value_becomes_a_list_or_text(written: str, value: Any) -> None:
    assert read(f"a: {written}\n").data == {"a": value}


@pytest.mark.parametrize(
    "written", ["!!binary x", "!!binary /w==", "!!binary [a]", "!!omap [a]", "!!set [a]"]
)
def test_malformed_tagged_value_is_refused_with_line(written: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        read(f"a: 1\nb: {written}\n")
    found = caught.value.first
    assert (found.code, str(found.position)) == ("bad-tag", "<template>:2:4")
