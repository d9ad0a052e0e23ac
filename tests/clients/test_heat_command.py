"""The legacy command ``heat`` of python-heatclient, every subcommand of it, in one process."""

from __future__ import annotations

import contextlib
import io
import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from heatclient import exc
from heatclient.shell import HeatShell

from tests.clients.steps import Step, Walk, step, used
from tests.clients.test_all_commands import NOBODY, files  # noqa: F401 - the fixture
from tests.recovery.service import Service

pytestmark = pytest.mark.filterwarnings("ignore")

TYPES = (
    step("build-info", "api", "engine"),
    step("resource-type-list", "OS::Heat::RandomString"),
    step("resource-type-show OS::Heat::RandomString", '"length"'),
    step("resource-type-template OS::Heat::RandomString", "HeatTemplateFormatVersion"),
    step("resource-template OS::Heat::RandomString", "HeatTemplateFormatVersion"),
    step("template-version-list", "heat_template_version.2021-04-16"),
    step("template-function-list heat_template_version.2018-08-31", "get_attr"),
    step("template-validate -f {files}/main.yaml", '"length"'),
    step("service-list", "service:index"),
)
LIFE = (
    step("stack-preview -f {files}/main.yaml old", "OS::Heat::RandomString"),
    step("stack-create -f {files}/main.yaml old", "CREATE_"),
    step("stack-show old", "CREATE_COMPLETE", waits=True),
    step("stack-list", "old"),
    step("output-list old", "The text."),
    step("output-show --with-detail old text", "output_value"),
    step("template-show old", "OS::Heat::RandomString"),
    step("resource-list old", "OS::Heat::RandomString"),
    step("resource-show old text", "RandomString"),
    step("resource-metadata old text", "{}"),
    step("event-list old", "CREATE_COMPLETE", keeps="events"),
    step("event-show old text {event}", "text"),
    step("event old text {event}", "text"),
    step("stack-update -f {files}/main.yaml -P length=9 --dry-run old", "replaced"),
    step("stack-snapshot old -n before", "before", keeps="taken"),
    step("snapshot-list old", "{snapshot}", "before"),
    step("snapshot-show old {snapshot}", '"COMPLETE"', waits=True),
    step("stack-update -f {files}/main.yaml -P length=9 old", "old"),
    step("stack-show old", "UPDATE_COMPLETE", waits=True),
    step("stack-restore old {snapshot}"),
    step("stack-show old", "RESTORE_COMPLETE", waits=True),
    step("snapshot-delete old {snapshot}", "accepted"),
    step("action-suspend old", "SUSPEND"),
    step("stack-show old", "SUSPEND_COMPLETE", waits=True),
    step("action-resume old", "RESUME"),
    step("stack-show old", "RESUME_COMPLETE", waits=True),
    step("action-check old", "CHECK"),
    step("stack-show old", "CHECK_COMPLETE", waits=True),
    step("resource-mark-unhealthy old text because"),
    step("resource-show old text", "CHECK_FAILED"),
    step("resource-mark-unhealthy --reset old text"),
    step("stack-abandon -O {files}/old.json old"),
    step("stack-show old", "Stack not found: old", waits=True),
    step("stack-adopt -a {files}/old.json new", "ADOPT"),
    step("stack-show new", "ADOPT_COMPLETE", waits=True),
    step("stack-delete -y new", "new"),
    step("stack-show new", "Stack not found: new", waits=True),
)
TROUBLE = (
    step("stack-create -f {files}/waiting.yaml waits", "CREATE_"),
    step("resource-show waits ready", "CREATE_IN_PROGRESS", waits=True),
    step("resource-signal waits handle -f {files}/signal.json"),
    step("stack-show waits", "CREATE_COMPLETE", waits=True),
    step("stack-create -f {files}/main.yaml -e {files}/hooks.yaml held", "CREATE_"),
    step("hook-poll held", "text", waits=True),
    step("hook-clear --pre-create held text"),
    step("stack-show held", "CREATE_COMPLETE", waits=True),
    step("stack-cancel-update held", "Cancelling update"),
    step("stack-delete -y waits held", "waits", "held"),
    step("stack-show held", "Stack not found: held", waits=True),
)
SOFTWARE = (
    step("config-create -g script -c {files}/greet.sh greet", "echo hello", keeps="made"),
    step("config-list", "{config}"),
    step("config-show {config}", "echo hello"),
    step("deployment-create -c {config} -s {nobody} -t NO_SIGNAL greeting", "{nobody}",
         keeps="deployed"),
    step("deployment-list", "{deployment}"),
    step("deployment-show {deployment}", "{nobody}"),
    step("deployment-metadata-show {nobody}", "echo hello"),
    step("deployment-output-show -a {deployment}", keeps="said"),
    step("deployment-delete {deployment}"),
    step("deployment-show {deployment}", "not found"),
    step("config-delete {config}"),
    step("config-show {config}", "not found"),
)  # fmt: skip
TABLES = {"types": TYPES, "life": LIFE, "trouble": TROUBLE, "software": SOFTWARE}
OF_NO_SERVICE = {"bash-completion", "bash_completion", "help"}
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")


@pytest.fixture
def heat(service: Service) -> Iterator[list[str]]:
    """Return the options with the address of the service."""
    auth = service.credentials("stoker")
    names = {"os-auth-url": "auth_url", "os-username": "username", "os-password": "password",
             "os-project-name": "project_name", "os-user-domain-name": "user_domain_name",
             "os-project-domain-name": "project_domain_name"}  # fmt: skip
    before = dict(os.environ)
    for name in [name for name in os.environ if name.startswith("OS_")]:
        del os.environ[name]
    yield [word for name, key in names.items() for word in (f"--{name}", auth[key])]
    os.environ.update(before)


def run(words: list[str], command: str) -> str:
    """Return the output of the command, including refusals."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        try:
            HeatShell().main([*words, *command.split()])
        except (exc.HTTPException, exc.CommandError) as error:
            return str(error)
    return printed.getvalue()


class Words(Walk):
    """Find ids in printed text: this client has no other form."""

    def through(self, steps: tuple[Step, ...]) -> None:
        """Run all steps, one by one."""
        for each in steps:
            super().through([each])
            found = _ID.search(self.known.get(each.keeps, ""))
            names = {"made": "config", "deployed": "deployment", "taken": "snapshot"}
            if found is not None and each.keeps in names:
                self.known[names[each.keeps]] = found[0]
            if each.keeps == "events":
                line = next(s for s in self.known["events"].splitlines() if "| text" in s)
                self.known["event"] = _ID.findall(line)[0]


@pytest.mark.parametrize("name", TABLES)
def test_the_subcommands_do_and_say_what_users_know(
    heat: list[str],
    files: Path,  # noqa: F811 - the fixture
    name: str,
) -> None:
    known = {"files": str(files), "nobody": NOBODY}
    Words(lambda command: run(heat, command), known).through(TABLES[name])


def test_there_is_a_step_for_every_subcommand() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shell = HeatShell()
        shell.get_subcommand_parser("1")
    names = sorted(set(shell.subcommands) - OF_NO_SERVICE)
    assert len(names) > 45
    assert set(names) - used(list(TABLES.values()), names) == set()
