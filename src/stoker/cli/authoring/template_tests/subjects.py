"""The services that tests run in: one without a cloud in this process, or one on a local cloud."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol

from stoker.cli.authoring.template_tests.test_files import TestCase
from stoker.cli.client.client import Client
from stoker.cli.client.credentials import Credentials
from stoker.cli.client.stacks import ORCHESTRATION, Stack, find_stack, refresh
from stoker.cli.console.failures import CommandError
from stoker.cli.deploy.request import DeployRequest
from stoker.cli.rehearsal.operation import Deadline, Operations
from stoker.cli.rehearsal.substitutes import Substitutes
from stoker.cli.rehearsal.throwaway_cloud import throwaway_cloud
from stoker.template.evaluate.evaluation import Evaluation
from stoker.trial.imagined_cloud import CONSTRAINTS, ImaginedCloud
from stoker.trial.service import URL, TrialService, running_trial_service


class Subject(Protocol):
    """A service that runs the stacks of tests."""

    client: Client

    def prepare(self, case: TestCase) -> str | None:
        """Set the facts about the cloud for a case. Return why it cannot run here, or None."""

    def ask(self, request: DeployRequest, method: str, path: str, body: Mapping[str, Any]) -> Any:
        """Send a request that only reads. Raises :class:`DocumentError` for a refusal."""

    def run(self, request: DeployRequest, stack: Stack | None, body: Mapping[str, Any]) -> Stack:
        """Create a stack, or update the given one; return it when the operation has ended."""

    def evaluations(self) -> Sequence[Evaluation]:
        """Return the evaluations of stacks since the last call, as far as they are known here."""

    def remove(self, stack: Stack) -> None:
        """Delete a stack."""


class TrialSubject:
    """The service without a cloud."""

    def __init__(self, service: TrialService) -> None:
        self.service = service
        self.client = Client(Credentials(f"{URL}/v3", username="tester"), URL, service.transport)

    def prepare(self, case: TestCase) -> str | None:
        """Set the facts about the cloud for a case."""
        cloud = case.cloud
        names = {CONSTRAINTS.get(key, key): value for key, value in cloud.get("names", {}).items()}
        imagined = ImaginedCloud(names, cloud.get("attributes", {}), cloud.get("failures", {}))
        self.service.imagine(imagined, case.name)
        return None

    def ask(self, request: DeployRequest, method: str, path: str, body: Mapping[str, Any]) -> Any:
        """Send a request that only reads."""
        return request.send(self.client, method, path, body)

    def run(self, request: DeployRequest, stack: Stack | None, body: Mapping[str, Any]) -> Stack:
        """Create or update a stack."""
        if stack is None:
            request.send(self.client, "POST", "/stacks", body)
        else:
            request.send(self.client, "PUT", stack.path, body)
        self.service.settle()
        found = find_stack(self.client, request.name)
        if found is None:
            raise CommandError(f"the stack {request.name} has vanished")
        return found

    def evaluations(self) -> Sequence[Evaluation]:
        """Return the evaluations of stacks since the last call."""
        return self.service.evaluations.take()

    def remove(self, stack: Stack) -> None:
        """Delete a stack."""
        self.client.call(ORCHESTRATION, "DELETE", stack.path)
        self.service.settle()


class CloudSubject:
    """A service on a local cloud of its own."""

    def __init__(self, client: Client, administrator: Client, deadline: Deadline) -> None:
        self.client = client
        self._deadline = deadline
        self._substitutes = Substitutes(client, administrator, None)
        self._makes_missing = True

    def prepare(self, case: TestCase) -> str | None:
        """Return why a case cannot run here: a local cloud does not imagine failures."""
        self._makes_missing = "errors" not in case.expected
        return '"failures" need an imagined cloud' if case.cloud.get("failures") else None

    def ask(self, request: DeployRequest, method: str, path: str, body: Mapping[str, Any]) -> Any:
        """Send a request that only reads, after objects that the cloud lacks were made."""
        if self._makes_missing:
            self._substitutes.send(partial(self.client.call, ORCHESTRATION, method, path), body)
        return request.send(self.client, method, path, self._substitutes.fitted(body))

    def run(self, request: DeployRequest, stack: Stack | None, body: Mapping[str, Any]) -> Stack:
        """Create or update a stack."""
        operations = Operations(self.client, self._deadline, request.sent.place)
        fitted = self._substitutes.fitted(body)
        if stack is None:
            send = partial(request.send, self.client, "POST", "/stacks", fitted)
            ended = operations.create(send, request.name)
        else:
            send = partial(request.send, self.client, "PUT", stack.path, fitted)
            ended = operations.update(send, stack)
        return refresh(self.client, ended.stack, outputs=True)

    def evaluations(self) -> Sequence[Evaluation]:
        """Return none: they are in another process."""
        return ()

    def remove(self, stack: Stack) -> None:
        """Delete a stack."""
        Operations(self.client, self._deadline).delete(stack)


@contextmanager
def trial_subject() -> Iterator[TrialSubject]:
    """Run the service without a cloud for the block."""
    with running_trial_service() as service:
        yield TrialSubject(service)


@contextmanager
def cloud_subject(minutes: float) -> Iterator[CloudSubject]:
    """Run a local cloud for the block."""
    with throwaway_cloud() as cloud:
        yield CloudSubject(cloud.client, cloud.administrator, Deadline(60 * minutes))
