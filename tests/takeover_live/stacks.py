"""Stacks of the lab's Heat, and of the service in its place, by python-heatclient."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from heatclient.client import Client
from heatclient.common import template_utils
from heatclient.exc import HTTPException, HTTPNotFound
from keystoneauth1.exceptions import ClientException
from keystoneauth1.identity import v3
from keystoneauth1.session import Session

from tests.takeover_live import lab

TEMPLATES = Path(__file__).parent / "templates"
_SECONDS = 300.0
_POLL_SECONDS = 0.5


def session_of(user: str) -> Session:
    """Return a session of a user of the cloud."""
    given = lab.variables(user)
    auth = v3.Password(
        auth_url=given["OS_AUTH_URL"],
        username=given["OS_USERNAME"],
        password=given["OS_PASSWORD"],
        project_name=given["OS_PROJECT_NAME"],
        user_domain_id="default",
        project_domain_id="default",
    )
    return Session(auth=auth)


def wait_until(claim: Callable[[], bool], what: str, seconds: float = _SECONDS) -> None:
    """Wait for a claim to become true; raise AssertionError with ``what`` otherwise."""
    deadline = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {what}"
        time.sleep(_POLL_SECONDS)


class Stacks:
    """The stacks of a user."""

    def __init__(self, session: Session) -> None:
        self.api = Client("1", session=session, region_name="RegionOne", connect_retries=5)

    def create(self, stack: str, template: str = "", /, **more: Any) -> None:
        """Start to create a stack.

        ``more`` are parameters, and in upper case fields of the request.
        """
        self.api.stacks.create(stack_name=stack, **_request(template or stack, more))

    def update(self, stack: str, template: str, /, **more: Any) -> None:
        """Start to update a stack."""
        self.api.stacks.update(stack, **_request(template, more))

    def delete(self, name: str) -> None:
        """Start to delete a stack."""
        self.api.stacks.delete(name)

    def status(self, name: str) -> str:
        """Return the status of a stack; ``DELETE_COMPLETE`` if there is none."""
        try:
            return str(self.api.stacks.get(name, resolve_outputs=False).stack_status)
        except HTTPNotFound:
            return "DELETE_COMPLETE"

    def reaches(self, name: str, expected: str) -> None:
        """Wait for the end of an operation; raise AssertionError unless it ends as expected."""
        action = expected.partition("_")[0]

        def is_over() -> bool:
            status = self.status(name)
            return status == expected or (
                status.startswith(action) and not status.endswith("_IN_PROGRESS")
            )

        wait_until(is_over, f"{name} is {expected}, but {self.status(name)}")
        status = self.status(name)
        assert status == expected, f"{name} is {status}: {self.reason(name)}"

    def reason(self, name: str) -> str:
        """Return the reason of the status of a stack."""
        return str(self.api.stacks.get(name, resolve_outputs=False).stack_status_reason)

    def outputs(self, name: str) -> dict[str, Any]:
        """Return the outputs of a stack."""
        found = self.api.stacks.get(name).outputs
        return {each["output_key"]: each.get("output_value") for each in found}

    def physical_id(self, name: str, resource: str) -> str:
        """Return the id of the object of a resource."""
        return str(self.api.resources.get(name, resource).physical_resource_id)

    def wait_for_answer(self) -> None:
        """Wait until the service answers requests that need an engine."""

        def answers() -> bool:
            try:
                self.names()
            except (HTTPException, ClientException):
                return False
            return True

        wait_until(answers, "the service answers")

    def names(self) -> list[str]:
        """Return the names of all stacks."""
        return [stack.stack_name for stack in self.api.stacks.list()]


def _request(template: str, more: Mapping[str, Any]) -> dict[str, Any]:
    files, content = template_utils.get_template_contents(str(TEMPLATES / f"{template}.yaml"))
    fields = {key.lower(): value for key, value in more.items() if key.isupper()}
    parameters = {key: value for key, value in more.items() if not key.isupper()}
    request = {"timeout_mins": 20, "disable_rollback": True, "template": content, "files": files}
    return {**request, "parameters": parameters, **fields}
