"""The permissions of each role, found by trial: every address of every API, in every role.

``python -m tests.rest`` writes docs/reference/security.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from stoker.api.cfn.actions import ACTIONS as CFN_ACTIONS
from stoker.api.cfn.handlers.unavailable import UNAVAILABLE
from stoker.api.cloudwatch.actions import ACTIONS as CLOUDWATCH_ACTIONS
from stoker.cli.arguments.data_dir import running_in
from stoker.kernel.addresses import ResourceAddress, StackAddress
from tests.rest.contract import ROWS, Row
from tests.rest.scene import Scene

PAGE = Path(__file__).parents[2] / "docs/reference/security.md"
ROLES = (
    "no token", "other project", "reader", "member", "stack user", "user of another stack", "admin"
)  # fmt: skip
STACK_USERS = ROLES[4:6]
YES = "yes"
# Parameters of actions that name a stack.
NAMED = {
    "LogicalResourceId": "handle",
    "Status": "SUCCESS",
    "UniqueId": "1",
    "ChangeSetName": "changes",
    "EnableTerminationProtection": "true",
}
UNDECIDED = (400, 409, 501)  # answers of query APIs after the policy has admitted the sender
INTRODUCTION = """# Security: who may do what

Written by `python -m tests.rest`, which tries every address of every API in every role, with the
default policies; a test fails when behaviour and page differ. To change who may do what, see
[policies](../operate/operations.md#policies).

The columns:

- **no token**: the request has no proof of its sender.
- **other project**: a member of another project. The request names this project in the address, or
  this stack in a parameter.
- **reader**, **member**: a user with this role in the project. (With `enforce_new_defaults =
  false`, every user of the project is treated as a member, except users of stacks.)
- **stack user**: the user that was created for the resource in the address. Users of a stack belong
  to a project of their own, and name it in addresses.
- **user of another stack** of the same project.
- **admin**: a user with the role admin in another project.

`yes` is allowed. Otherwise the table has the status of the answer: 401 and 403 mean that the
sender has no right, 404 that the sender does not see the object. It may exist for other users.

Types of resources have policies of their own (`resource_types:...`). By default, only admins may
use types that change the whole cloud, such as flavors and users, also in nested templates.
"""


@dataclass(frozen=True)
class Line:
    """One address or action, and the answer to each role."""

    what: str
    policies: tuple[str, ...]
    outcomes: Mapping[str, str]

    def __str__(self) -> str:
        policies = " ".join(f"`{name}`" for name in self.policies)
        return f"| {self.what} | {policies} | {' | '.join(self.outcomes[r] for r in ROLES)} |"


def rest_lines(scene: Scene, document: Mapping[str, Any]) -> Iterator[Line]:
    """The REST API."""
    for row in ROWS:
        described = document["paths"]["/{project_id}" + row.path][row.method.lower()]
        outcomes = {role: _of_row(scene, row, role) for role in ROLES}
        yield Line(f"{row.method} {row.path}", tuple(described["x-policies"]), outcomes)


def _of_row(scene: Scene, row: Row, role: str) -> str:
    person = scene.people[role]
    project = person.project if role in STACK_USERS else scene.member.project
    status = row.ask(scene, person, project).status_code
    return YES if status == row.status else f"{status}"


def query_lines(scene: Scene, url: str, api: str, actions: Mapping[str, Any]) -> Iterator[Line]:
    """An API whose requests name an action."""
    for action in sorted(actions.keys() - UNAVAILABLE.keys()):
        outcomes = {role: _of_action(scene, url, action, role) for role in ROLES}
        yield Line(action, (f"{api}:{action}",), outcomes)


def _of_action(scene: Scene, url: str, action: str, role: str) -> str:
    person = scene.people[role]
    query = {"Action": action, "Version": "2010-05-15"}
    if role == "other project":
        query |= {"StackName": _stack(scene).arn, **NAMED}
    elif role in STACK_USERS:
        query |= {"StackName": "everything", **NAMED}
    headers = {"X-Auth-Token": person.token} if person.token else {}
    answer = httpx.post(url, data=query, headers=headers, timeout=60, verify=False)
    if not person.token or answer.status_code not in (200, *UNDECIDED):
        return f"{answer.status_code}"
    if _is_missing(answer.text):
        return "404"
    if role != "other project":
        return YES
    assert answer.status_code != 200 or scene.stack_id not in answer.text, action
    return "own"


def _is_missing(text: str) -> bool:
    return "could not be found" in text or "does not exist" in text


def signal_lines(scene: Scene, url: str) -> Iterator[Line]:
    """The addresses for signals."""
    arn = quote(ResourceAddress(_stack(scene), "handle").arn)
    for method, kind in (("PUT", "waitcondition"), ("POST", "signal")):
        outcomes = {}
        for role in ROLES:
            token = scene.people[role].token
            headers = {"X-Auth-Token": token} if token else {}
            address = f"{url}{kind}/{arn}"
            answer = httpx.request(
                method, address, headers=headers, content=b"{}", timeout=60, verify=False
            )
            status = 404 if _is_missing(answer.text) else answer.status_code
            outcomes[role] = YES if status == 200 else f"{status}"
        yield Line(f"{method} /v1/{kind}/{{arn}}", ("resource:signal",), outcomes)


def _stack(scene: Scene) -> StackAddress:
    return StackAddress(scene.member.project, "everything", scene.stack_id)


def page(scene: Scene, document: Mapping[str, Any]) -> str:
    """The whole page, as it is to be."""
    running = running_in(scene.service.data_dir)
    assert running is not None
    cfn = f"http://127.0.0.1:{running.cfn_port}/v1/"
    cloudwatch = f"http://127.0.0.1:{running.cloudwatch_port}/v1/"
    tables = {
        "REST API": rest_lines(scene, document),
        "CloudFormation API": query_lines(scene, cfn, "cloudformation", CFN_ACTIONS),
        "Signals": signal_lines(scene, cfn),
        "CloudWatch API": query_lines(scene, cloudwatch, "cloudwatch", CLOUDWATCH_ACTIONS),
    }
    text = INTRODUCTION
    for title, lines in tables.items():
        text += f"\n## {title}\n\n{NOTES.get(title, '')}| | policy | {' | '.join(ROLES)} |\n"
        text += "|---" * (len(ROLES) + 2) + "|\n"
        text += "".join(f"{line}\n" for line in lines)
    return text


NOTES = {
    "REST API": """Below `/v1/{project_id}`. Versions, `/v1/openapi.json` and `/healthcheck` need no
token. Where several policies stand, the first is asked always, the others depending on the request.
Users of stacks see deployments to the server alone that they were made for.

""",
    "CloudFormation API": """Requests are signed with EC2 keys, or carry a token. `own`: what
the action shows or changes is in the sender's own project. Users of stacks name their resource.
Actions for what Stoker does not have, such as stack sets, are answered to everybody alike.

""",
    "Signals": """Signed addresses are those of the stack user that they were made for.

""",
    "CloudWatch API": """As for CloudFormation.

""",
}
