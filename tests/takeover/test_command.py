"""``stoker takeover``: copies, checks and lists."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from click.testing import CliRunner, Result

from stoker.cli.main import main
from stoker.takeover.heat.trees import Selection
from tests.takeover.estate import PROJECT, Estate
from tests.takeover.heat_dump import RECORDED


def run(estate: Estate, *arguments: str) -> Result:
    """Run the command with Heat's configuration."""
    common = ["--config-file", str(estate.configuration), "--data-dir", str(estate.data_dir)]
    return CliRunner().invoke(main, ["takeover", *common, *arguments])


def test_subcommands_accept_the_place_after_their_name(estate: Estate) -> None:
    run(estate, "--from", estate.url)
    place = ["--config-file", str(estate.configuration), "--data-dir", str(estate.data_dir)]
    found = CliRunner().invoke(main, ["takeover", "status", *place, "--json"])
    assert len(json.loads(found.stdout)) == 8


def test_command_copies_and_continues(estate: Estate) -> None:
    first = run(estate, "--from", estate.url)
    assert first.exit_code == 0, first.output
    assert "8 stacks were copied with 60 resources" in first.output
    again = run(estate, "--from", estate.url, "--json")
    assert json.loads(again.stdout)["unchanged"] == 8


def test_check_writes_reports(estate: Estate, tmp_path: Path) -> None:
    run(estate, "--from", estate.url)
    page = tmp_path / "report.html"
    answers = str(RECORDED / "answers.json")
    checked = run(estate, "check", "--offline", "--answers", answers, "--html", str(page), "--json")
    assert checked.exit_code == 0, checked.output
    report = json.loads(checked.stdout)
    assert (report["ready"], report["answers"]["equal"]) == (True, 308)
    assert '<h1 class="good">Ready</h1>' in page.read_text()
    table = run(estate, "check", "--offline", "--answers", answers, "--project", PROJECT)
    assert "308 of 308 answers are equal" in table.output


def test_check_fails_for_unready_stack(estate: Estate) -> None:
    estate.change("UPDATE stack SET status_reason = 'other' WHERE name = 'secret'")
    run(estate, "--from", estate.url)
    checked = run(estate, "check", "--offline", "--answers", str(RECORDED / "answers.json"))
    assert checked.exit_code == 1
    assert "not ready" in checked.output


def test_status_lists_changed_stacks(estate: Estate) -> None:
    run(estate, "--from", estate.url)
    status = run(estate, "status")
    assert status.output == "8 stacks were taken over; 0 have changed here since.\n"
    [first, *_] = json.loads(run(estate, "status", "--json").stdout)
    assert (first["project"], first["changed_here"]) == (PROJECT, False)


def test_missing_source_is_reported(estate: Estate) -> None:
    result = run(estate)
    assert (result.exit_code, result.output) == (
        2,
        "stoker: name the database of Heat with --from URL\n",
    )


def test_wrong_key_is_reported_with_its_place(estate: Estate) -> None:
    text = estate.configuration.read_text().replace("767c3ed0", "00000000")
    estate.configuration.write_text(text)
    result = run(estate, "--from", estate.url)
    assert result.exit_code == 1
    assert "cannot be decrypted by cryptography_decrypt_v1" in result.output


def test_check_without_a_takeover_is_reported(estate: Estate) -> None:
    result = run(estate, "check", "--project", PROJECT)
    assert result.exit_code == 1
    assert "run stoker takeover --from first" in result.output


def test_wait_names_stacks_in_progress(estate: Estate) -> None:
    estate.change("UPDATE stack SET status='IN_PROGRESS' WHERE name LIKE 'groups-asg%'")
    named: list[list[str]] = []

    def ends(busy: Sequence[str]) -> None:
        named.append(list(busy))
        estate.change("UPDATE stack SET status='COMPLETE' WHERE status='IN_PROGRESS'")

    estate.takeover().wait_for_rest(estate.url, Selection(), ends)
    assert [[name.partition("-")[0] for name in names] for names in named] == [["groups"] * 3]
