"""Commands on stacks, against a running service with real servers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import urllib.request
from pathlib import Path

import pytest

from tests.cli.conftest import EXAMPLES, Served, command_line, environment_without_cloud, free_port
from tests.recovery.service import Service

SLOW = """heat_template_version: 2018-08-31
resources:
  slow:
    type: OS::Heat::TestResource
    properties: {wait_secs: 4}
outputs:
  done: {value: {get_attr: [slow, output]}}
"""


# Another cloud on this machine has the same floating IPs: our own port distinguishes the two.
WEB_APP = ("deploy", str(EXAMPLES / "web-app.yaml"), "-P", "title=Good morning")
PORT = ("-P", f"port={free_port()}")


@pytest.fixture(scope="module")
def web_app(service: Served) -> str:
    done = service.run(*WEB_APP, *PORT)
    assert done.exit_code == 0, done.output
    return done.output


def test_deploy_shows_events_outputs_and_serves_page(web_app: str) -> None:
    lines = web_app.splitlines()
    assert any("CREATE_COMPLETE" in line and "router_interface" in line for line in lines)
    url = next(line.split()[1] for line in lines if line.startswith("  url"))
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=10) as page:
        assert b"Good morning" in page.read()


def test_deploy_of_a_stack_that_exists_updates_it(service: Served, web_app: str) -> None:
    done = service.run(*WEB_APP, *PORT)
    assert done.exit_code == 0
    assert "UPDATE_COMPLETE" in done.output


def test_plan_names_changes_and_causes_without_changing(service: Served, web_app: str) -> None:
    same = service.run("plan", *WEB_APP[1:], *PORT)
    assert (same.output, same.exit_code) == ("web-app: nothing changes\n", 0)
    other = service.run("plan", WEB_APP[1], "-P", "title=Good evening", *PORT)
    assert "± server  OS::Nova::Server  because of user_data" in other.output
    assert "web-app: 1 replaced" in other.output
    assert other.exit_code == 2
    assert service.run("plan", "nowhere.yaml").exit_code == 1
    new = service.run("plan", WEB_APP[1], "--stack", "another")
    assert "+ server  OS::Nova::Server" in new.output
    assert service.run("status", "another").exit_code == 2


def test_update_confirms_replacement_and_deletion(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "asks.yaml"
    text = (
        "heat_template_version: 2018-08-31\n"
        "resources:\n"
        "  a: {type: OS::Heat::RandomString, properties: {length: 8}}\n"
        "  b: {type: OS::Heat::RandomString}\n"
    )
    template.write_text(text)
    assert service.run("deploy", str(template)).exit_code == 0
    template.write_text(text.replace("length: 8", "length: 9").rpartition("  b:")[0])
    unanswered = service.run("deploy", str(template))
    assert unanswered.exit_code == 2
    assert f"± a  OS::Heat::RandomString  because of length  ({template}:3)" in unanswered.output
    assert "\n    length: 8 -> 9\n" in unanswered.output
    assert "- b  OS::Heat::RandomString" in unanswered.output
    assert "--yes" in unanswered.output
    assert service.run("deploy", str(template), text="n\n").exit_code == 1
    assert "CREATE_COMPLETE" in service.run("status", "asks").output.splitlines()[0]
    assert service.run("deploy", str(template), text="y\n").exit_code == 0
    template.write_text(text)
    assert service.run("deploy", str(template), "--yes").exit_code == 0
    assert "UPDATE_COMPLETE" in service.run("status", "asks").output.splitlines()[0]


PLANNED = """heat_template_version: 2018-08-31
parameters: {word: {type: string, default: first, hidden: true}, length: {type: number, default: 8}}
resources:
  text: {type: OS::Heat::RandomString, properties: {length: {get_param: length}}}
  value: {type: OS::Heat::Value, properties: {value: {get_param: word}}}
"""


def test_saved_plan_is_private_and_carried_out_once(service: Served, tmp_path: Path) -> None:
    template, plan = tmp_path / "planned.yaml", tmp_path / "next.plan"
    template.write_text(PLANNED)
    made = service.run("plan", str(template), "--out", str(plan))
    assert made.exit_code == 2
    assert f"stoker deploy {plan}" in made.output
    assert plan.stat().st_mode & 0o777 == 0o600
    assert service.run("deploy", str(plan)).exit_code == 0
    again = service.run("deploy", str(plan))
    assert again.exit_code == 1
    changed = ("-P", "word=confidential", "-P", "length=9")
    shown = service.run("plan", str(template), *changed, "--out", str(plan))
    assert "value: changes only in secrets" in shown.output
    assert "confidential" not in shown.output
    refused = service.run("deploy", str(plan), "--name", "other")
    assert (refused.exit_code, "is a plan" in refused.output) == (2, True)
    done = service.run("deploy", str(plan))  # without asking: the plan says what is replaced
    assert (done.exit_code, "UPDATE_COMPLETE" in done.output) == (0, True)
    again = service.run("deploy", str(plan))
    assert (again.exit_code, "Make a new plan" in again.output) == (1, True)
    same = service.run("plan", str(template), *changed, "--json", "--out", str(plan))
    assert (same.exit_code, json.loads(same.output)["changes"]) == (0, [])


def test_a_destroy_is_planned_and_carried_out(service: Served, tmp_path: Path) -> None:
    template, plan = tmp_path / "ends.yaml", tmp_path / "end.plan"
    template.write_text(PLANNED)
    assert service.run("deploy", str(template)).exit_code == 0
    shown = service.run("plan", "--destroy", "ends", "--out", str(plan))
    assert (shown.exit_code, "ends: 2 deleted" in shown.output) == (2, True)
    assert service.run("deploy", str(plan)).exit_code == 0
    assert service.run("status", "ends").exit_code == 2


def test_why_shows_causes_of_waits_and_failures(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "waits.yaml"
    template.write_text(
        "heat_template_version: 2018-08-31\n"
        "resources:\n"
        "  handle: {type: OS::Heat::WaitConditionHandle}\n"
        "  ready:\n"
        "    type: OS::Heat::WaitCondition\n"
        "    properties: {handle: {get_resource: handle}, timeout: 3}\n"
        "  next: {type: OS::Heat::RandomString, depends_on: ready}\n"
    )
    assert service.run("deploy", str(template), "--no-wait").exit_code == 0
    outputs = iter(lambda: service.run("why", "waits").output, "")
    waits = next(each for each in outputs if "waits for handle" not in each)
    assert "0 of 1 signals received" in waits
    assert "(line 4 of the template)" in waits
    assert "next  waits for ready" in waits
    assert service.run("status", "waits", "--follow").exit_code == 1
    failed = service.run("why", "waits", "ready")
    assert "0 of 1 received within 3 seconds" in failed.output
    assert "stoker destroy waits" in failed.output
    causes = json.loads(service.run("why", "waits", "--json").output)["causes"]
    assert [cause["path"] for cause in causes] == [["ready"]]
    unknown = service.run("why", "waits", "reddy")
    assert (unknown.exit_code, 'did you mean "ready"?' in unknown.output) == (2, True)


def test_status_lists_stacks_and_where_the_service_runs(service: Served, web_app: str) -> None:
    done = service.run("status")
    assert service.url in done.output
    assert "web-app" in done.output


def test_status_shows_resources_outputs_and_events(service: Served, web_app: str) -> None:
    done = service.run("status", "web-app")
    assert "✓ server  OS::Nova::Server" in done.output
    assert "http://127." in done.output
    assert "Last events" in done.output


def test_status_as_json_has_resources_and_outputs(service: Served, web_app: str) -> None:
    shown = json.loads(service.run("status", "web-app", "--json").output)
    assert shown["outputs"]["url"].startswith("http://127.")
    assert {r["name"] for r in shown["resources"]} >= {"server", "network", "ready"}


def test_status_list_as_json_has_outputs(service: Served, web_app: str) -> None:
    stacks = json.loads(service.run("status", "--json").stdout)
    outputs = {stack["name"]: stack["outputs"] for stack in stacks}
    assert outputs["web-app"]["url"].startswith("http://127.")


def test_deploy_as_json_prints_only_the_stack(service: Served, web_app: str) -> None:
    done = service.run(*WEB_APP, *PORT, "--json")
    stack = json.loads(done.stdout)
    assert (done.exit_code, stack["state"]) == (0, "UPDATE_COMPLETE")
    assert stack["outputs"]["url"].startswith("http://127.")
    assert "UPDATE_COMPLETE" in done.stderr


def test_failed_deploy_as_json_keeps_cause_on_stderr(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "broken.yaml"
    template.write_text(
        "heat_template_version: 2018-08-31\n"
        "resources: {x: {type: 'OS::Heat::TestResource', properties: {fail: true}}}\n"
    )
    done = service.run("deploy", str(template), "--json")
    assert (done.exit_code, json.loads(done.stdout)["state"]) == (1, "CREATE_FAILED")
    assert "What next" in done.stderr


def test_deploy_with_existing_keeps_earlier_parameters(service: Served, tmp_path: Path) -> None:
    template, plan = tmp_path / "remembered.yaml", tmp_path / "next.plan"
    template.write_text(
        "heat_template_version: 2018-08-31\n"
        "parameters: {a: {type: string, default: one}, b: {type: string, default: two}}\n"
        "resources: {x: {type: 'OS::Heat::Value', properties: {value: {get_param: a}}}}\n"
        "outputs: {a: {value: {get_param: a}}, b: {value: {get_param: b}}}\n"
    )

    def outputs(*arguments: str) -> dict[str, str]:
        done = service.run("deploy", *arguments, "--yes", "--json")
        return dict(json.loads(done.stdout)["outputs"])

    assert outputs(str(template), "-P", "a=new") == {"a": "new", "b": "two"}
    kept = ("-P", "b=newer", "--existing")
    assert service.run("plan", str(template), *kept, "--out", str(plan)).exit_code in (0, 2)
    assert outputs(str(template), *kept) == {"a": "new", "b": "newer"}
    changed = service.run("plan", str(template), "-P", "a=third", "--existing", "--out", str(plan))
    assert changed.exit_code == 2
    assert outputs(str(plan)) == {"a": "third", "b": "newer"}
    assert outputs(str(template)) == {"a": "one", "b": "two"}


def test_template_from_standard_input_is_deployed(service: Served) -> None:
    template = "heat_template_version: 2018-08-31\noutputs: {o: {value: piped}}\n"
    done = service.run("deploy", "-", "--name", "piped", "--json", text=template)
    assert json.loads(done.stdout)["outputs"] == {"o": "piped"}


@pytest.mark.parametrize("named", [("web-app",), ("web-app/server",), ("web-app", "server")])
def test_logs_finds_a_server_by_its_stack(
    service: Served, web_app: str, named: tuple[str, ...]
) -> None:
    done = service.run("logs", *named)
    assert done.exit_code == 0
    assert "finished at" in done.output


def test_logs_finds_server_by_name_with_last_lines(service: Served, web_app: str) -> None:
    outputs = json.loads(service.run("status", "web-app", "--json").output)["outputs"]
    done = service.run("logs", outputs["name"], "-n", "1")
    assert len(done.output.strip().splitlines()) == 1


def test_console_log_of_resource_has_last_lines(service: Served, web_app: str) -> None:
    api = Service(service.data_dir, port=service.port, cloud_port=service.cloud_port)
    stack = api.get("/stacks/web-app")["stack"]
    path = f"/stacks/web-app/{stack['id']}/resources"
    assert "finished at" in api.get(f"{path}/server/console_log")["output"]
    assert len(api.get(f"{path}/server/console_log?lines=1")["output"].splitlines()) == 1
    other = next(
        each["resource_name"]
        for each in api.get(path)["resources"]
        if each["resource_type"] != "OS::Nova::Server"
    )
    assert api.request("GET", f"{path}/{other}/console_log").status_code == 404


def test_logs_of_unknown_server_suggests_names(service: Served, web_app: str) -> None:
    done = service.run("logs", "web-app/serverr")
    assert done.exit_code == 2
    assert 'did you mean "server"?' in done.output


def test_failing_stack_shows_cause_console_and_next_steps(
    service: Served,
) -> None:
    done = service.run("deploy", str(EXAMPLES / "failing-app.yaml"))
    assert done.exit_code == 1
    report = done.output.partition("failing-app: CREATE_FAILED")[2]
    template = EXAMPLES / "failing-app.yaml"
    assert f"✗ ready  OS::Heat::WaitCondition  ({template}:43)" in report
    assert "there is no licence in /srv/app/licence.key" in report
    assert "  | setup: looking for the licence" in report
    assert "stoker destroy failing-app" in report
    again = service.run("status", "failing-app")
    assert "there is no licence" in again.output


def test_corrected_stack_deploys_after_failure_signal(
    service: Served,
) -> None:
    example = str(EXAMPLES / "failing-app.yaml")
    assert service.run("deploy", example, "--name", "second-try").exit_code == 1
    plan = service.run("plan", example, "--name", "second-try", "-P", "licence=/etc/passwd")
    assert "± ready_handle  OS::Heat::WaitConditionHandle  because it is marked" in plan.output
    done = service.run("deploy", example, "--name", "second-try", "-P", "licence=/etc/passwd")
    assert done.exit_code == 0, done.output
    assert "ready_handle still holds the failure of an earlier attempt" in done.output


def test_nested_failure_is_shown_with_its_cause(service: Served, tmp_path: Path) -> None:
    (tmp_path / "inner.yaml").write_text(
        "heat_template_version: 2018-08-31\n"
        "resources: {deep: {type: OS::Heat::TestResource, properties: {fail: true}}}\n"
    )
    outer = tmp_path / "outer.yaml"
    outer.write_text("heat_template_version: 2018-08-31\nresources: {middle: {type: inner.yaml}}\n")
    done = service.run("deploy", str(outer))
    assert done.exit_code == 1
    report = done.output.partition("outer: CREATE_FAILED")[2].splitlines()
    assert report[2].startswith("✗ middle/deep  OS::Heat::TestResource")
    assert "Test Resource failed deep" in report[3]


def test_rolled_back_stack_still_shows_its_failure(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "back.yaml"
    template.write_text(
        "heat_template_version: 2018-08-31\n"
        "resources: {bad: {type: OS::Heat::TestResource, properties: {fail: true}}}\n"
    )
    done = service.run("deploy", str(template), "--rollback")
    assert done.exit_code == 1
    assert "back: ROLLBACK_COMPLETE" in done.output
    report = done.output.partition("back: ROLLBACK_COMPLETE")[2]
    assert "✗ bad  OS::Heat::TestResource" in report
    assert "stoker deploy --no-rollback" in report


def test_bad_template_is_refused_with_all_positions(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "bad.yaml"
    template.write_text(
        "heat_template_version: 2018-08-31\n"
        "resources:\n"
        "  a:\n"
        "    type: OS::Heat::RandomStrin\n"
        "  b:\n"
        "    type: OS::Heat::Value\n"
        "    properties: {valu: 1}\n"
    )
    done = service.run("deploy", str(template))
    assert done.exit_code == 2
    assert f"{template}:4:5: error:" in done.output
    assert 'did you mean "OS::Heat::RandomString"?' in done.output
    assert f"{template}:7:" in done.output
    assert "    4 |     type: OS::Heat::RandomStrin\n            ^" in done.output
    assert service.run("status", "bad").exit_code == 2


def test_finding_in_nested_template_names_its_file(service: Served, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "inner.yaml").write_text(
        "heat_template_version: 2018-08-31\nresources:\n  x: {type: OS::Heat::Nothing}\n"
    )
    outer = tmp_path / "outer.yaml"
    outer.write_text(
        "heat_template_version: 2018-08-31\nresources: {middle: {type: sub/inner.yaml}}\n"
    )
    done = service.run("deploy", str(outer), "--name", "never")
    assert done.exit_code == 2
    assert f"{tmp_path}/sub/inner.yaml:3:" in done.output


def test_interrupted_deploy_continues_and_can_be_followed(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "slow.yaml"
    template.write_text(SLOW)
    process = subprocess.Popen(
        command_line("deploy", str(template), "--data-dir", str(service.data_dir)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment_without_cloud(), "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    assert "CREATE_IN_PROGRESS" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    said, complaints = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "stoker status slow --follow" in said
    assert "Traceback" not in complaints
    assert "stoker cancel slow" in said
    followed = service.run("status", "slow", "--follow")
    assert followed.exit_code == 0
    assert "CREATE_COMPLETE      slow" in followed.output


def test_deploy_without_wait_returns_immediately(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "later.yaml"
    template.write_text(SLOW)
    done = service.run("deploy", str(template), "--no-wait")
    assert done.exit_code == 0
    assert "stoker status later --follow" in done.output
    assert service.run("destroy", "later", "--yes").exit_code == 0


def test_destroy_asks_first_and_then_deletes(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "brief.yaml"
    template.write_text(
        "heat_template_version: 2018-08-31\nresources: {r: {type: OS::Heat::RandomString}}\n"
    )
    assert service.run("deploy", str(template)).exit_code == 0
    refused = service.run("destroy", "brief", text="n\n")
    assert refused.exit_code == 1
    unanswered = service.run("destroy", "brief", text="")
    assert unanswered.exit_code == 2
    assert "--yes" in unanswered.output
    assert service.run("status", "brief").exit_code == 0
    done = service.run("destroy", "brief", text="y\n")
    assert done.exit_code == 0
    assert "DELETE_COMPLETE      brief" in done.output
    gone = service.run("destroy", "brief", "--yes")
    assert gone.exit_code == 2
    assert 'there is no stack "brief"' in gone.output


def test_deploy_starts_a_lasting_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    template = tmp_path / "own.yaml"
    template.write_text(
        "heat_template_version: 2018-08-31\nresources: {r: {type: OS::Heat::RandomString}}\n"
    )
    served = Served(tmp_path / "data", free_port(), free_port(), process=None)
    monkeypatch.setenv("STOKER_PORT", str(served.port))
    monkeypatch.setenv("STOKER_CLOUD_PORT", str(served.cloud_port))
    done = served.run("deploy", str(template))
    try:
        assert done.exit_code == 0, done.output
        assert f"Started a service at {served.url}" in done.output
        assert "own" in served.run("status").output
    finally:
        assert served.run("stop").exit_code == 0


def test_credentials_of_the_environment_are_used(
    service: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OS_CLOUD", "stoker")
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(service.data_dir / "clouds.yaml"))
    done = subprocess.run(
        command_line("status"), capture_output=True, text=True, timeout=30, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stderr
    assert "Stack" in done.stdout or "There are no stacks" in done.stdout
