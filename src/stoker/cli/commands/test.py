"""``stoker test``: runs tests of templates."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from stoker.cli.authoring.template_tests.coverage import Coverage
from stoker.cli.authoring.template_tests.report import (
    FileReport,
    as_data,
    coverage_lines,
    show,
    summary,
    write_report,
)
from stoker.cli.authoring.template_tests.runner import Runner
from stoker.cli.authoring.template_tests.subjects import Subject, cloud_subject, trial_subject
from stoker.cli.authoring.template_tests.test_files import TestFile, find_test_files, read_tests
from stoker.cli.console.console import print_json
from stoker.cli.console.failures import FAILED, InputError


@click.command("test")
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1)
@click.option("-k", "only", metavar="TEXT", help="Run only the tests whose names contain TEXT.")
@click.option("--cloud", is_flag=True, help="Run the stacks in a local cloud that is made for it.")
@click.option(
    "--coverage",
    "shows_coverage",
    is_flag=True,
    help="Show conditions and branches that no test has used.",
)
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Fail if fewer conditions and branches are covered.",
)
@click.option("--update-snapshots", is_flag=True, help="Accept changed plan snapshots.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--junit",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a test case for each test.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=30,
    show_default=True,
    metavar="MINUTES",
    help="With --cloud: give up after this long.",
)
def command(paths: tuple[Path, ...], as_json: bool, junit: Path | None, **options: Any) -> None:
    """Run tests of templates, which are written in NAME.test.yaml beside NAME.yaml.

    PATHS are test files, templates, or directories (default: the current one). No cloud and no
    service is needed: resources are imagined, everything else is as in the real service.

    Exit code 0: all tests passed; 1: a test failed, or too little is covered; 2: a test file is not
    valid.

    \b
    Examples
      stoker test
      stoker test app.yaml -k production
      stoker test --coverage --fail-under 90 --junit report.xml
      stoker test --cloud app.test.yaml
    """
    run = _Run(**options)
    files = [read_tests(path) for path in find_test_files(paths or (Path(),))]
    if not files:
        raise InputError("there are no test files (NAME.test.yaml) here")
    with redirect_stdout(sys.stderr if as_json else sys.stdout):
        passed = run.run(files)
    if as_json:
        print_json(as_data(run.reports, run.coverage))
    if junit is not None:
        write_report(junit, run.reports)
    if not passed:
        sys.exit(FAILED)


class _Run:
    """One run, with the options of the command."""

    def __init__(
        self,
        *,
        only: str | None,
        cloud: bool,
        shows_coverage: bool,
        fail_under: float | None,
        update_snapshots: bool,
        timeout: float,
    ) -> None:
        measures = shows_coverage or fail_under is not None
        if cloud and measures:
            raise InputError("coverage is measured without a cloud; leave one of both options out")
        self._only = only
        self._cloud_minutes = timeout if cloud else None
        self._fail_under = fail_under or 0.0
        self._updates = update_snapshots
        self.coverage = Coverage() if measures else None
        self.reports: list[FileReport] = []

    def run(self, files: Sequence[TestFile]) -> bool:
        """Run the tests and print the results. Return whether all passed and enough is covered."""
        began = time.monotonic()
        if self._cloud_minutes is None:
            for tests in files:
                # a new service, so that ids do not depend on the files before
                with trial_subject() as subject:
                    self._run_file(subject, tests)
        else:
            with cloud_subject(self._cloud_minutes) as subject_on_cloud:
                for tests in files:
                    self._run_file(subject_on_cloud, tests)
        click.echo(summary(self.reports, time.monotonic() - began))
        if self.coverage is not None:
            click.echo("\n".join(coverage_lines(self.coverage)))
        outcomes_of_all = [each for report in self.reports for each in report.outcomes]
        if not outcomes_of_all:
            raise InputError(f'no test has "{self._only}" in its name')
        covered = 100.0 if self.coverage is None else self.coverage.percent
        return all(each.passed for each in outcomes_of_all) and covered >= self._fail_under

    def _run_file(self, subject: Subject, tests: TestFile) -> None:
        runner = Runner(subject, self.coverage, updates=self._updates)
        self.reports.append(show(tests.path, runner.run(tests, self._only)))
