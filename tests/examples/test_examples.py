"""The examples work for root and for ordinary users, whatever a machine has installed."""

from __future__ import annotations

import re

import pytest

from tests.examples.conftest import SITUATIONS, Machine

_WEB = """
$stoker deploy examples/web-app.yaml --data-dir $dir/one || exit 1
url=$($stoker status web-app --json --data-dir $dir/one |
      $python -c 'import json, sys; print(json.load(sys.stdin)["outputs"]["url"])')
curl -sf --retry 20 --retry-delay 1 --retry-all-errors "$url"; code=$?
$stoker destroy web-app --yes --data-dir $dir/one
$stoker stop --data-dir $dir/one
exit $code
"""
_FAILING = """
$stoker deploy examples/failing-app.yaml --data-dir $dir/one; code=$?
$stoker destroy failing-app --yes --data-dir $dir/one
$stoker stop --data-dir $dir/one
exit $code
"""
_TWICE = """
$stoker deploy examples/web-app.yaml -P title=One --data-dir $dir/one & one=$!
$stoker deploy examples/web-app.yaml -P title=Two --data-dir $dir/two & two=$!
wait $one || exit 1
wait $two || exit 1
for each in one two; do
    url=$($stoker status web-app --json --data-dir $dir/$each |
          $python -c 'import json, sys; print(json.load(sys.stdin)["outputs"]["url"])')
    curl -sf --retry 20 --retry-delay 1 --retry-all-errors "$url" | sed "s/^/$each: /"
done
for each in one two; do
    $stoker destroy web-app --yes --data-dir $dir/$each
    $stoker stop --data-dir $dir/$each
done
"""


@pytest.mark.parametrize(
    "machine",
    [
        pytest.param("as it is", marks=pytest.mark.long),
        pytest.param("ordinary user", marks=pytest.mark.long),
        "without uidmap",
        pytest.param("without subordinate ids", marks=pytest.mark.long),
    ],
    indirect=True,
)
def test_the_web_application_comes_up_and_its_page_is_served(machine: Machine) -> None:
    done = machine.run(_WEB)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "<h1>Hello from Stoker</h1>" in done.stdout


@pytest.mark.long
@pytest.mark.parametrize("machine", SITUATIONS, indirect=True)
def test_the_failing_application_fails_with_its_reason(machine: Machine) -> None:
    done = machine.run(_FAILING)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "there is no licence in /srv/app/licence.key" in done.stdout


@pytest.mark.long
@pytest.mark.parametrize("machine", ["as it is", "without subordinate ids"], indirect=True)
def test_two_clouds_at_once_serve_each_its_own_page(machine: Machine) -> None:
    done = machine.run(_TWICE)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = dict(re.findall(r"^(one|two): <h1>(.*)</h1>$", done.stdout, re.MULTILINE))
    assert pages == {"one": "One", "two": "Two"}


@pytest.mark.parametrize("machine", ["without subordinate ids"], indirect=True)
def test_doctor_names_what_is_missing_and_fails(machine: Machine) -> None:
    done = machine.run("$stoker doctor --data-dir $dir/one")
    assert done.returncode == 1
    said = next(line for line in done.stdout.splitlines() if "subordinate user ids" in line)
    assert said.startswith("lacks")
    assert "package uidmap" in done.stdout or "usermod --add-subuids" in done.stdout
