"""Reports in the XML format of JUnit, which CI systems show."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct


class JUnitCase(Struct, frozen=True):
    """A test case."""

    name: str
    class_name: str
    seconds: float = 0.0
    problems: Sequence[str] = ()
    output: Sequence[str] = ()  # lines


class JUnitSuite(Struct, frozen=True):
    """A suite of test cases."""

    name: str
    cases: Sequence[JUnitCase]


def write_junit(path: Path, suites: Sequence[JUnitSuite]) -> None:
    """Write a report."""
    cases = [case for suite in suites for case in suite.cases]
    root = ET.Element("testsuites", _counts(cases))
    for suite in suites:
        counts = {"name": _printable(suite.name), **_counts(suite.cases), "errors": "0"}
        element = ET.SubElement(root, "testsuite", counts)
        for case in suite.cases:
            _add(element, case)
    ET.indent(root)
    ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _counts(cases: Sequence[JUnitCase]) -> dict[str, str]:
    return {
        "tests": str(len(cases)),
        "failures": str(sum(bool(case.problems) for case in cases)),
        "time": f"{sum(case.seconds for case in cases):.3f}",
    }


def _add(suite: ET.Element, case: JUnitCase) -> None:
    attributes = {
        "name": _printable(case.name),
        "classname": _printable(case.class_name),
        "time": f"{case.seconds:.3f}",
    }
    element = ET.SubElement(suite, "testcase", attributes)
    if case.problems:
        first = case.problems[0].splitlines()[0]
        failure = ET.SubElement(element, "failure", {"message": _printable(first)})
        failure.text = _printable("\n".join(case.problems))
    if case.output:
        output = ET.SubElement(element, "system-out")
        output.text = _printable("\n".join(case.output))


def _printable(text: str) -> str:
    """Return a text without characters that XML does not allow."""
    return "".join(c for c in text if c in "\n\t" or (c >= " " and c not in "\ufffe\uffff"))
