"""``stoker test``: tests of templates, without a cloud."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.cli.conftest import EXAMPLES, stoker

TEMPLATE = """
heat_template_version: 2018-08-31
parameters:
  flavor: {type: string, default: m1.small, constraints: [{custom_constraint: nova.flavor}]}
  size: {type: number, default: 1, constraints: [{range: {min: 1, max: 9}}]}
  name: {type: string, default: web}
  volume: {type: boolean, default: false}
conditions:
  has_volume: {get_param: volume}
resources:
  port: {type: OS::Neutron::Port, properties: {network: private}}
  server:
    type: OS::Nova::Server
    properties:
      name: {get_param: name}
      flavor: {get_param: flavor}
      image: {if: [has_volume, big, small]}
      networks: [{port: {get_resource: port}}]
      user_data_format: RAW
      user_data:
        str_replace: {template: "echo $n", params: {$n: {get_param: name}}}
  data:
    type: OS::Cinder::Volume
    condition: has_volume
    properties: {size: {get_param: size}}
outputs:
  address: {value: {get_attr: [server, first_address]}}
  port: {value: {get_resource: port}}
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "app.yaml").write_text(TEMPLATE)
    return tmp_path


def run(directory: Path, tests: str, *options: str, code: int = 0) -> dict[str, Any]:
    """Run the tests of the template; return the report."""
    (directory / "app.test.yaml").write_text(dedent(tests))
    done = stoker("test", str(directory), "--json", *options)
    assert done.exit_code == code, done.output
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def failures(report: dict[str, Any]) -> list[str]:
    """Return the failures of all tests, with their lines."""
    return [
        f"{each['line']}: {each['message']}"
        for test in report["tests"]
        for each in test["failures"]
    ]


def test_expected_state_passes(directory: Path) -> None:
    report = run(
        directory,
        """
        cloud:
          attributes: {server: {first_address: 10.1.2.3}}
        tests:
          - name: small
            expect:
              status: CREATE_COMPLETE
              plan: {added: [port, server]}
              count: {OS::Nova::Server: 1, OS::Cinder::Volume: 0}
              resources:
                data: null
                server:
                  type: OS::Nova::Server
                  properties:
                    flavor: m1.small
                    networks: [{port: {$resource: port}}]
                    user_data: {$contains: echo web}
                    image: {$not: big}
              outputs:
                address: 10.1.2.3
                port: {$resource: port}
          - name: big
            parameters: {volume: true, size: 3}
            expect:
              resources: {data: {properties: {size: 3}}}
        """,
    )
    assert report["passed"]
    assert [each["name"] for each in report["tests"]] == ["small", "big"]


def test_differences_are_reported_at_their_lines(directory: Path) -> None:
    report = run(
        directory,
        """\
        tests:
          - expect:
              status: CREATE_FAILED
              count: {OS::Nova::Server: 2}
              plan: {added: [server], deleted: [other]}
              resources:
                data: {type: OS::Cinder::Volume}
                port: null
                server:
                  properties:
                    flavor: m1.large
                    networks:
                      - port: {$resource: nope}
                    user_data: {$matches: "^rm"}
                    name: {$any_: 3}
              outputs: {address: {$any: false}, port: [1]}
        """,
        code=1,
    )
    first, *others = failures(report)
    assert first.startswith("3: status: expected CREATE_FAILED, found CREATE_COMPLETE: Stack")
    assert [line.removesuffix(', found "echo web"') for line in others[:-1]] == [
        "5: plan.added: port is added, unexpectedly",
        "5: plan.deleted: other is not deleted, since there is no such resource",
        "7: resources.data: there is no resource data; there are port, server",
        "8: resources.port: there is a resource port, of type OS::Neutron::Port",
        '11: resources.server.properties.flavor: expected "m1.large", found "m1.small"',
        '13: resources.server.properties.networks.0.port.$resource: there is no resource "nope"',
        '14: resources.server.properties.user_data.$matches: expected a text that matches "^rm"',
        '15: resources.server.properties.name.$any_: there is no $any_; did you mean "$any"?',
        "4: count.OS::Nova::Server: expected 2, found 1",
        '16: outputs.address.$any: expected no value, found "192.0.2.109"',
    ]
    assert others[-1].startswith("16: outputs.port: expected a list of 1, found ")


def test_update_shows_what_is_replaced(directory: Path) -> None:
    report = run(
        directory,
        """
        tests:
          - name: user data replace the server
            before: {parameters: {name: old}}
            parameters: {name: new}
            expect: {plan: {replaced: [server]}}
          - name: another flavor does not
            before: {parameters: {flavor: m1.large}}
            expect: {plan: {updated: [server]}}
          - name: without a volume
            before: {parameters: {volume: true}}
            expect: {plan: {deleted: [data], updated: [server]}}
          - name: nothing
            before: {}
            expect: {plan: {}}
        """,
    )
    assert report["passed"], failures(report)


def test_update_from_another_template(directory: Path) -> None:
    (directory / "v1.yaml").write_text(
        TEMPLATE.replace("  port: {type", "  nic: {type").replace(
            "get_resource: port", "get_resource: nic"
        )
    )
    report = run(
        directory,
        """
        tests:
          - before: {template: v1.yaml}
            expect:
              plan: {added: [port], deleted: [nic], updated: [server]}
        """,
    )
    assert report["passed"], failures(report)


def test_errors_are_expected(directory: Path) -> None:
    report = run(
        directory,
        """
        cloud: {names: {flavors: [m1.small]}}
        tests:
          - name: by message
            parameters: {size: 99}
            expect: {errors: ["99 is out of range"]}
          - name: by code
            parameters: {flavor: huge}
            expect: {errors: [{code: not-in-cloud, message: huge, line: 4}]}
          - name: missing error
            expect: {errors: [out of range]}
          - name: unexpected error
            parameters: {sise: 1}
        """,
        code=1,
    )
    assert [each["passed"] for each in report["tests"]] == [True, True, False, False]
    missing, unexpected = failures(report)
    assert missing.startswith('11: errors.0: expected the error "out of range", found none')
    assert "The Parameter (sise) was not defined in template" in unexpected


def test_failure_rolls_back(directory: Path) -> None:
    report = run(
        directory,
        """
        tests:
          - name: create
            cloud: {failures: {server: No valid host was found.}}
            expect: {status: CREATE_FAILED, reason: {$contains: No valid host}}
          - name: update
            before: {parameters: {volume: false}}
            parameters: {volume: true}
            cloud: {failures: {OS::Cinder::Volume: too full}}
            rollback: true
            expect: {status: ROLLBACK_COMPLETE, resources: {data: null}}
        """,
    )
    assert report["passed"], failures(report)


def test_waiting_times_are_skipped(directory: Path) -> None:
    (directory / "slow.yaml").write_text(
        dedent(
            """
            heat_template_version: 2018-08-31
            resources:
              wait: {type: OS::Heat::Delay, properties: {min_wait: 3000}}
              done:
                type: OS::Heat::WaitCondition
                properties: {handle: {get_resource: handle}, timeout: 3600}
              handle: {type: OS::Heat::WaitConditionHandle}
            outputs:
              url: {value: {get_attr: [handle, curl_cli]}}
            """
        )
    )
    report = run(
        directory, "tests: [{template: slow.yaml, expect: {outputs: {url: {$matches: ^curl}}}}]"
    )
    assert report["passed"], failures(report)


def test_coverage_lists_unused_branches(directory: Path) -> None:
    report = run(directory, "tests: [{name: small}]", "--coverage", "--fail-under", "50")
    (template,) = report["coverage"]["templates"]
    assert (template["branches"], template["covered"]) == (4, 2)
    assert [each["message"] for each in template["missing"]] == [
        "condition has_volume is never true",
        "resources.server.properties.image.if is never true",
    ]
    assert [each["line"] for each in template["missing"]] == [9, 17]
    run(directory, "tests: [{name: small}]", "--fail-under", "51", code=1)
    report = run(
        directory, "tests: [{name: a}, {parameters: {volume: true}}]", "--fail-under", "100"
    )
    assert report["coverage"]["percent"] == 100


def test_coverage_of_nested_templates(directory: Path) -> None:
    (directory / "outer.yaml").write_text(
        dedent(
            """
            heat_template_version: 2018-08-31
            resources:
              inner:
                type: OS::Heat::ResourceGroup
                properties: {count: 2, resource_def: {type: app.yaml, properties: {volume: true}}}
            """
        )
    )
    report = run(directory, "tests: [{template: outer.yaml}]", "--coverage")
    covered = {
        each["file"].rpartition("/")[2]: each["covered"] for each in report["coverage"]["templates"]
    }
    assert covered == {"outer.yaml": 0, "app.yaml": 2}


def test_snapshots_show_changed_plans(directory: Path) -> None:
    tests = """
        tests:
          - {name: all, snapshot: true}
          - {name: up, before: {parameters: {name: x}}, snapshot: true}
        """
    run(directory, tests)
    stored = directory / "__snapshots__" / "app.test.snap"
    assert '± server  OS::Nova::Server\n    name: "x" -> "web"\n' in stored.read_text()
    run(directory, tests)
    changed = TEMPLATE.replace("network: private", "network: other")
    (directory / "app.yaml").write_text(changed)
    report = run(directory, tests, code=1)
    (failure,) = failures(report)
    assert '-    network: "private"' in failure
    assert '+    network: "other"' in failure
    run(directory, tests, "--update-snapshots")
    run(directory, tests)


def test_junit_report(directory: Path) -> None:
    run(
        directory,
        "tests: [{name: good}, {name: bad, expect: {outputs: {port: 1}}}]",
        "--junit",
        str(directory / "report.xml"),
        code=1,
    )
    suites = ET.parse(directory / "report.xml").getroot()
    assert (suites.get("tests"), suites.get("failures")) == ("2", "1")
    assert [each.get("name") for each in suites.iter("testcase")] == ["good", "bad"]


def test_tests_are_selected_by_name(directory: Path) -> None:
    report = run(directory, "tests: [{name: one}, {name: two}]", "-k", "tw")
    assert [each["name"] for each in report["tests"]] == ["two"]


@pytest.mark.parametrize(
    ("tests", "message"),
    [
        (
            "tests: [{expects: {}}]",
            'app.test.yaml:1:10: error: tests[0].expects: there is no key "expects" here',
        ),
        ("tests: [{expect: {plan: {add: []}}}]", 'did you mean "added"?'),
        ("tests: {}", "this is a list, not a map"),
        ("parameters: {}", 'a test file has a list "tests"'),
        ("tests: [{template: nope.yaml}]", 'there is no file "'),
        ("[", "the text is not valid YAML"),
    ],
)
def test_mistakes_in_test_files(directory: Path, tests: str, message: str) -> None:
    (directory / "app.test.yaml").write_text(tests)
    done = stoker("test", str(directory / "app.yaml"))
    assert done.exit_code in (1, 2)
    assert message in done.output


def test_template_without_tests_is_refused(directory: Path) -> None:
    done = stoker("test", str(directory / "app.yaml"))
    assert done.exit_code == 2
    assert "has no tests" in done.output


def test_tests_of_the_examples_pass() -> None:
    done = stoker("test", str(EXAMPLES))
    assert done.exit_code == 0, done.output


GROUPS = """
heat_template_version: 2018-08-31
resources:
  balancer:
    type: AWS::ElasticLoadBalancing::LoadBalancer
    properties:
      AvailabilityZones: [nova]
      Listeners: [{LoadBalancerPort: 80, InstancePort: 8080, Protocol: HTTP}]
  launch:
    type: AWS::AutoScaling::LaunchConfiguration
    properties: {InstanceId: model, KeyName: mine}
  group:
    type: AWS::AutoScaling::AutoScalingGroup
    properties:
      AvailabilityZones: [nova]
      LaunchConfigurationName: {get_resource: launch}
      LoadBalancerNames: [{get_resource: balancer}]
      MinSize: 1
      MaxSize: 3
      DesiredCapacity: 2
  elsewhere:
    type: OS::Heat::Stack
    properties:
      template: |
        heat_template_version: 2018-08-31
        outputs: {address: {value: 10.0.0.1}}
  port: {type: OS::Neutron::Port, properties: {network: private}}
outputs:
  mac: {value: {get_attr: [port, mac_address]}}
  address: {value: {get_attr: [elsewhere, outputs, address]}}
"""


def test_groups_of_instances_have_members(directory: Path) -> None:
    (directory / "app.yaml").write_text(GROUPS)
    run(
        directory,
        """
        tests:
          - expect:
              count: {OS::Heat::ScaledResource: 2, OS::Octavia::PoolMember: 2}
              outputs: {address: elsewhere.address, mac: {$matches: "^fa:16:3e(:[0-9a-f]{2}){3}$"}}
        """,
    )


def test_hooks_do_not_stop_stacks(directory: Path) -> None:
    (directory / "hooks.yaml").write_text(
        'resource_registry: {resources: {"*": {hooks: [pre-create, post-create, pre-update]}}}'
    )
    run(
        directory,
        """
        environments: [hooks.yaml]
        tests:
          - before: {parameters: {name: one}}
            parameters: {name: two}
            expect: {plan: {replaced: [server]}}
        """,
    )


def test_failed_stack_leaves_no_snapshot(directory: Path) -> None:
    tests = """
        cloud: {failures: {server: no host}}
        tests: [{name: a, snapshot: true}]
        """
    run(directory, tests, code=1)
    assert not (directory / "__snapshots__").exists()


def test_missing_output_is_not_null(directory: Path) -> None:
    report = run(directory, "tests: [{expect: {outputs: {adress: null}}}]", code=1)
    assert failures(report) == [
        "1: outputs.adress: there is no output adress; there are address, port"
    ]


def test_snapshot_of_a_name_with_lines_is_found(directory: Path) -> None:
    tests = 'tests: [{name: "a\\n=== b", snapshot: true}, {name: "=== c", snapshot: true}]'
    run(directory, tests)
    stored = (directory / "__snapshots__" / "app.test.snap").read_text()
    run(directory, tests)
    assert (directory / "__snapshots__" / "app.test.snap").read_text() == stored


def test_endless_patterns_end(directory: Path) -> None:
    value = f"{'a' * 40}!"
    report = run(
        directory,
        f"""
        tests:
          - parameters: {{name: "{value}"}}
            expect: {{resources: {{server: {{properties: {{name: {{$matches: "^(a|aa)+$"}}}}}}}}}}
        """,
        code=1,
    )
    assert "expected a match of" in failures(report)[0]
