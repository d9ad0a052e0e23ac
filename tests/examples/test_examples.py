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


_DATABASE = """
deploy() { $stoker deploy examples/database.yaml --yes --data-dir $dir/one "$@" || exit 1; }
output() {
    $stoker status database --json --data-dir $dir/one |
        $python -c "import json, sys; print(json.load(sys.stdin)['outputs']['$1'])"
}
deploy
url=$(output url)
echo "first $(output server)"
curl -sf --retry 20 --retry-delay 1 --retry-all-errors -X PUT -d 42 ${url}answer
deploy -P release=2 -P volume_size=2
echo "second $(output server)"
until curl -sf $url | grep '"release": "2"'; do sleep 0.5; done
echo "answer $(curl -sf ${url}answer)"
$stoker destroy database --yes --data-dir $dir/one
$stoker stop --data-dir $dir/one
"""


_RESTARTED = """
names="hello database rolling-update"
for name in $names; do
    $stoker deploy examples/$name.yaml --data-dir $dir/one || exit 1
done
$stoker deploy examples/shop.yaml -e examples/shop/production.yaml --name shop \
    --data-dir $dir/one || exit 1
$stoker deploy examples/cloudformation.yaml --data-dir $dir/one || exit 1
$stoker stop --data-dir $dir/one
$stoker deploy examples/hello.yaml --yes --data-dir $dir/one || exit 1
for name in $names cloudformation; do
    url=$($stoker status $name --json --data-dir $dir/one |
          $python -c 'import json, sys; print(json.load(sys.stdin)["outputs"]["url"])')
    curl -sf --retry 60 --retry-delay 1 --retry-all-errors "$url" > /dev/null &&
        echo "restarted: $name"
done
. $dir/one/openrc
for server in $($python -m openstackclient.shell server list -f value -c Name | grep ^shop); do
    $stoker exec $server --data-dir $dir/one -- curl -sf -o /dev/null http://127.0.0.1:8080/ \
        --retry 60 --retry-delay 1 --retry-all-errors && echo "restarted: a server of the shop"
done
$stoker stop --data-dir $dir/one
"""
_CLOUDFORMATION = """
deploy() { $stoker deploy examples/cloudformation.yaml --yes --data-dir $dir/one "$@" || exit 1; }
page() {
    url=$($stoker status cloudformation --json --data-dir $dir/one |
          $python -c 'import json, sys; print(json.load(sys.stdin)["outputs"]["url"])')
    curl -sf --retry 20 --retry-delay 1 --retry-all-errors "$url"
}
deploy
page
deploy -P Stage=production
page
deploy -P Stage=production -P InstanceType=m1.tiny
"""
_SHOP = """
for stage in development production; do
    $stoker deploy examples/shop.yaml -e examples/shop/$stage.yaml --name $stage \
        --data-dir $dir/one || exit 1
    $stoker status $stage --json --data-dir $dir/one |
        $python -c 'import json, sys
outputs = json.load(sys.stdin)["outputs"]
print("told", *outputs["pages"], outputs["kept_on"] != "none")'
    $stoker destroy $stage --yes --data-dir $dir/one || exit 1
done
$stoker stop --data-dir $dir/one
"""
_ROLLING = """
deploy() { $stoker deploy examples/rolling-update.yaml --yes --data-dir $dir/one "$@" || exit 1; }
deploy
url=$($stoker status rolling-update --json --data-dir $dir/one |
      $python -c 'import json, sys; print(json.load(sys.stdin)["outputs"]["url"])')
until curl -sf $url; do sleep 0.2; done
$python examples/rolling-update/ask $url 2 120 & ask=$!
deploy -P release=2
wait $ask; code=$?
$stoker stop --data-dir $dir/one
exit $code
"""
_BALANCED = """
$stoker deploy examples/balanced.yaml -P size=2 --data-dir $dir/one || exit 1
output() {
    $stoker status balanced --json --data-dir $dir/one |
        $python -c "import json, sys; print(json.load(sys.stdin)['outputs']['$1'])"
}
url=$(output url)
# as many requests as there can be servers: each one answers
ask() { for request in 1 2 3 4 5 6; do curl -sf --retry 20 --retry-all-errors $url; done; }
who() { ask | sort -u; }
until_there_are() { until [ $(who | wc -l) = $1 ]; do sleep 0.2; done; echo "$1 answer"; }
until_there_are 2
curl -sf -X POST "$(output grow)"
until_there_are 3
name=$(who | head -n 1 | sed "s/Hello from //")
echo "down: $name"
$stoker exec $name --data-dir $dir/one -- sh -c 'kill $(cat /run/web.pid)'
until_there_are 2
who | grep -q "$name" || echo "taken out"
$stoker exec $name --data-dir $dir/one -- /var/lib/cloud/scripts/per-boot/web
until_there_are 3
curl -sf -X POST "$(output shrink)"
until_there_are 2
$stoker destroy balanced --yes --data-dir $dir/one
$stoker stop --data-dir $dir/one
"""


_SHARED_FILES = """
urls() {
    $stoker status $1 --json --data-dir $dir/one |
        $python -c "import json, sys; told = json.load(sys.stdin)['outputs']
print(told['one'], told['two'])"
}
both() {
    name=$1; shift
    for url in $(urls $name); do
        curl -sf -X PUT -d "put at $1" $url$1 || exit 1
        shift
    done
    for url in $(urls $name); do
        echo "$name: $(curl -sf $url) $(curl -sf ${url}one) $(curl -sf ${url}two)"
    done
}
$stoker deploy examples/shared-files.yaml --data-dir $dir/one || exit 1
. $dir/one/openrc
$python -m openstackclient.shell stack create -t examples/shared-files.yaml --parameter access=rw \
    by-openstack --wait || exit 1
both shared-files one two
both by-openstack one two
$stoker deploy examples/shared-files.yaml -P access=ro --yes --data-dir $dir/one || exit 1
for url in $(urls shared-files); do
    echo "then: $(curl -s ${url}one), $(curl -s -X PUT -d new ${url}three)"
done
$python -m openstackclient.shell stack delete by-openstack --yes --wait || exit 1
$stoker destroy shared-files --yes --data-dir $dir/one || exit 1
$stoker stop --data-dir $dir/one
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
def test_web_application_serves_its_page(machine: Machine) -> None:
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
def test_two_clouds_serve_their_own_pages(machine: Machine) -> None:
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


@pytest.mark.parametrize(
    "machine",
    ["as it is", pytest.param("ordinary user", marks=pytest.mark.long)],
    indirect=True,
)
def test_the_entries_of_the_database_survive_its_server(machine: Machine) -> None:
    done = machine.run(_DATABASE)
    assert done.returncode == 0, done.stdout + done.stderr
    servers = re.findall(r"^(?:first|second) ([0-9a-f-]{36})$", done.stdout, re.MULTILINE)
    assert len(set(servers)) == 2
    assert "answer 42" in done.stdout


@pytest.mark.parametrize("machine", ["as it is"], indirect=True)
def test_cloudformation_template_serves_page_and_enforces_rules(
    machine: Machine,
) -> None:
    done = machine.run(_CLOUDFORMATION + "exit 1")
    machine.run("$stoker stop --data-dir $dir/one")
    assert "<h1>cloudformation in development</h1>" in done.stdout, done.stdout + done.stderr
    assert "<h1>cloudformation in production</h1>" in done.stdout
    assert "a server in production is larger than m1.tiny" in done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.parametrize("machine", ["as it is"], indirect=True)
def test_examples_answer_after_a_restart_of_the_cloud(machine: Machine) -> None:
    done = machine.run(_RESTARTED)
    assert re.findall(r"^restarted: (.*)$", done.stdout, re.MULTILINE) == [
        "hello",
        "database",
        "rolling-update",
        "cloudformation",
        *["a server of the shop"] * 3,
    ], done.stdout + done.stderr


@pytest.mark.parametrize("machine", ["as it is"], indirect=True)
def test_one_template_is_for_development_and_for_production(machine: Machine) -> None:
    done = machine.run(_SHOP)
    assert done.returncode == 0, done.stdout + done.stderr
    told = [line for line in done.stdout.splitlines() if line.startswith("told")]
    assert told == [
        'told {"1": "server 0 of development"} False',
        'told {"1": "server 0 of production"} {"1": "server 1 of production"} True',
    ]


@pytest.mark.long
@pytest.mark.parametrize("machine", ["as it is"], indirect=True)
def test_a_rolling_update_interrupts_no_client(machine: Machine) -> None:
    done = machine.run(_ROLLING)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^release 1: \d+ answers$", done.stdout, re.MULTILINE)
    assert "0 requests failed" in done.stdout


@pytest.mark.parametrize("machine", ["without uidmap"], indirect=True)
def test_load_balanced_group_grows_shrinks_and_heals(machine: Machine) -> None:
    done = machine.run(_BALANCED)
    assert done.returncode == 0, done.stdout + done.stderr
    said = re.findall(r"^\d answer$|^taken out$", done.stdout, re.MULTILINE)
    counts = ["2 answer", "3 answer", "2 answer", "taken out", "3 answer", "2 answer"]
    assert said == counts, done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    "machine",
    ["as it is", pytest.param("without subordinate ids", marks=pytest.mark.long)],
    indirect=True,
)
def test_shared_file_is_visible_on_both_servers(machine: Machine) -> None:
    done = machine.run(_SHARED_FILES, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    said = re.findall(r"^(?:shared-files|by-openstack|then): .*$", done.stdout, re.MULTILINE)
    assert said == [
        *['shared-files: ["one", "two"] put at one put at two'] * 2,
        *['by-openstack: ["one", "two"] put at one put at two'] * 2,
        *["then: put at one, Read-only file system"] * 2,
    ], done.stdout + done.stderr
