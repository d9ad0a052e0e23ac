"""The tests of the page's own code, which run in Node."""

from __future__ import annotations

import subprocess

import pytest
from tools.console import SOURCES, found_node, install


def test_tests_of_page_pass() -> None:
    node = found_node()
    if node is None:
        pytest.skip("Node is missing: python tools/console.py installs it")
    install(node)
    program = SOURCES / "node_modules/vitest/vitest.mjs"
    command = [str(node.program), str(program), "run", "--reporter=dot"]
    done = subprocess.run(command, cwd=SOURCES, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
