"""Runs the scenarios of a rehearsal, and judges each.

Without a copy, the stack is created and deleted. With the copy of an existing stack, the copy is
created, then updated to the template, and deleted. Every scenario starts from an empty project: it
is judged by the state of the stack, the live objects, and the objects that are left at the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from stoker.cli.arguments.naming import by_path
from stoker.cli.client.client import Client, RefusedError
from stoker.cli.client.stacks import ORCHESTRATION, Event, Stack, find_stack, resources_of
from stoker.cli.console.failures import CommandError, InputError
from stoker.cli.deploy.request import DeployRequest
from stoker.cli.rehearsal.operation import (
    Deadline,
    Ended,
    Operations,
    refusal_lines,
)
from stoker.cli.rehearsal.probes import Interruption, probing
from stoker.cli.rehearsal.scenarios import FAILURE, Scenario, with_failure
from stoker.cli.rehearsal.stack_copy import StackCopy
from stoker.cli.rehearsal.stack_state import (
    StackState,
    compared,
    drift_of,
    objects_of,
    state_of,
)
from stoker.cli.rehearsal.substitutes import Substitute, Substitutes
from stoker.cli.rehearsal.throwaway_cloud import ThrowawayCloud
from stoker.kernel.values import replace

_LEAVING_SECONDS = 5.0  # The cloud removes some objects after it has answered.


@dataclass
class Result:
    """Findings of a scenario."""

    scenario: Scenario
    operations: list[Ended] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    interruptions: list[Interruption] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)  # objects that stay by their deletion policy
    made_again: list[str] = field(default_factory=list)  # resources with another, equal object
    kills: int = 0
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Return whether there was no problem."""
        return not self.problems


class Rehearsal:
    """Runs scenarios, one after another, in one throw-away cloud."""

    def __init__(
        self,
        cloud: ThrowawayCloud,
        request: DeployRequest,
        copy: StackCopy | None,
        source: Client | None,
        deadline: Deadline,
    ) -> None:
        """Rehearse a request. ``source`` has the objects after which substitutes are modelled."""
        self._cloud = cloud
        self._client = cloud.client
        self._request = request
        self._copy = copy
        self._substitutes = Substitutes(cloud.client, cloud.administrator, source)
        self._deadline = deadline
        self._operations = Operations(cloud.client, deadline, request.sent.place)
        self._expected: set[tuple[str, str]] = set()  # paths and types after an undisturbed run

    @property
    def substitutes(self) -> list[Substitute]:
        """Return the objects that were made because the template uses them."""
        return self._substitutes.made

    def prepare(self) -> None:
        """Make substitutes for objects that previews miss.

        Raise :class:`InputError` for a template, or a copy, that cannot be created.
        """
        preview = partial(self._client.call, ORCHESTRATION, "POST", "/stacks/preview")
        try:
            self._substitutes.send(preview, self._first_body())
        except RefusedError as refusal:
            self._refuse(refusal)
        if self._copy is None or self._request.existing:
            return
        # A fault of the template or a parameter is wrong input, and no result of a rehearsal.
        body = replace(self._request, name=self._copy.body["stack_name"]).new_template_body()
        try:
            self._substitutes.send(preview, body)
        except RefusedError:
            fitted = self._substitutes.fitted(body)
            self._request.send(self._client, "POST", "/stacks/preview", fitted)

    def run(self, scenario: Scenario) -> Result:
        """Run a scenario; its problems are in the result.

        If an operation fails because of missing objects, they get substitutes, and it is repeated.
        """
        while True:
            result = self._attempt(scenario)
            if result.problems:
                self._clear()
            messages = [{"message": each} for each in result.problems]
            if not self._substitutes.make_missing(messages):
                return result

    def _attempt(self, scenario: Scenario) -> Result:
        result = Result(scenario)
        began = time.monotonic()
        kills = self._cloud.kills
        present = objects_of(self._client)
        try:
            self._deadline.check(f"{scenario.name} was not started")
            with self._cloud.disturbed(() if self._copy else scenario.disturbances):
                stack = self._run(scenario, result)
                if stack is not None:
                    self._delete(stack, result, present)
        except RefusedError as refusal:
            result.problems += [f"refused: {line}" for line in refusal_lines(refusal)]
        except CommandError as error:
            result.problems.append(error.message)
        result.kills = self._cloud.kills - kills
        result.seconds = time.monotonic() - began
        return result

    # -- parts of a scenario

    def _run(self, scenario: Scenario, result: Result) -> Stack | None:
        """Carry out the operation; return the stack."""
        if self._copy is None:
            return self._create(scenario, result)
        created = self._created(self._first_body(), lambda _: None)
        result.operations.append(created)
        if not self._is_complete(created, result, "the copy cannot be created"):
            return None
        self._update(created.stack, scenario, result)
        return created.stack

    def _create(self, scenario: Scenario, result: Result) -> Stack:
        body = self._first_body()
        ended = self._created(with_failure(body) if scenario.fails else body, self._kill(scenario))
        result.operations.append(ended)
        if scenario.fails:
            self._judge_rollback(ended, result)
        elif self._is_complete(ended, result, "it does not complete"):
            self._judge(ended.stack, scenario, result)
        return ended.stack

    def _created(self, body: Mapping[str, Any], observe: Callable[[list[Event]], None]) -> Ended:
        fitted = self._substitutes.fitted(body)
        send = partial(self._client.call, ORCHESTRATION, "POST", "/stacks", fitted)
        return self._operations.create(send, body["stack_name"], observe)

    def _update(self, stack: Stack, scenario: Scenario, result: Result) -> None:
        before = state_of(self._client, stack)
        body: Mapping[str, Any] = self._request.update_body()
        body = with_failure(body) if scenario.fails else body
        update = partial(self._client.call, ORCHESTRATION, self._request.method, stack.path)
        send = partial(self._substitutes.send, update, body)
        with (
            probing(self._cloud.new_client(), before.resources) as probes,
            self._cloud.disturbed(scenario.disturbances),
        ):
            ended = self._operations.update(send, stack, self._kill(scenario))
        result.operations.append(ended)
        after = by_path(stack, resources_of(self._client, stack))
        result.interruptions = probes.interruptions(after, ended.events)
        if scenario.fails:
            self._judge_rollback(ended, result, before)
        elif self._is_complete(ended, result, "it does not complete"):
            self._judge(ended.stack, scenario, result)

    def _delete(self, stack: Stack, result: Result, present: Mapping[str, str]) -> None:
        deleted = self._plan_of_delete(stack)
        kept = {each["physical_resource_id"] for each in deleted if each.get("keeps_object")}
        ended = self._operations.delete(stack, self._kill(result.scenario, deletes=True))
        result.operations.append(ended)
        if not self._is_complete(ended, result, "it cannot be deleted"):
            return
        left = self._left(present, kept)
        result.problems += [f"left after the delete: {text}" for text in left]
        known = objects_of(self._client)
        result.kept = [known[each] for each in kept if each in known]

    def _left(self, present: Mapping[str, str], kept: set[str]) -> list[str]:
        deadline = time.monotonic() + _LEAVING_SECONDS
        while True:
            now = objects_of(self._client)
            expected = {*present, *kept, *self._substitutes.ids}
            left = [text for key, text in now.items() if key not in expected]
            if not left or time.monotonic() > deadline:
                return left
            time.sleep(0.1)

    def _clear(self) -> None:
        """Delete the stack of a failed scenario, so that the next one can create it."""
        try:
            stack = find_stack(self._client, self._first_body()["stack_name"], outputs=False)
            if stack is not None:
                self._operations.delete(stack)
        except CommandError:
            pass  # The next scenario reports it.

    def _kill(self, scenario: Scenario, *, deletes: bool = False) -> Callable[[list[Event]], None]:
        """Return an observer that kills the service when something has happened."""

        def observe(events: list[Event]) -> None:
            if events and scenario.kills and not (deletes and self._copy):
                self._cloud.kill_service()

        return observe

    # -- judgements

    def _is_complete(self, ended: Ended, result: Result, what: str) -> bool:
        if ended.state == f"{ended.action}_COMPLETE":
            return True
        lines = "\n".join(ended.causes) or ended.stack.reason
        result.problems.append(f"{what}: {ended.state}\n{lines}")
        return False

    def _judge(self, stack: Stack, scenario: Scenario, result: Result) -> None:
        """Compare the stack with the template, and with the undisturbed run."""
        resources = by_path(stack, resources_of(self._client, stack))
        unfinished = [f"{p} is {r.state}" for p, r in resources.items() if r.status != "COMPLETE"]
        broken = [f"output {o.name}: {o.error}" for o in stack.outputs if o.error is not None]
        result.problems += [*unfinished, *broken, *drift_of(self._client, stack)]
        found = {(path, each.type_name) for path, each in resources.items()}
        if not self._expected:
            self._expected = found
        for path, type_name in sorted(found ^ self._expected):
            state = "is missing" if (path, type_name) in self._expected else "is too many"
            result.problems.append(f"{path} ({type_name}) {state}, compared with the first run")

    def _judge_rollback(
        self, ended: Ended, result: Result, before: StackState | None = None
    ) -> None:
        """Compare the stack after a rollback with that before."""
        forced = any((e.resource, e.state) == (FAILURE, "CREATE_FAILED") for e in ended.events)
        if not forced:
            self._is_complete(ended, result, "it fails before its end")
        if ended.state != "ROLLBACK_COMPLETE":
            if forced:
                self._is_complete(ended, result, "the rollback does not complete")
            return
        if before is not None:
            found = compared(before, state_of(self._client, ended.stack))
            result.problems += [f"not restored: {line}" for line in found.others]
            precious = self._with_data(ended.stack) if found.made_again else set()
            for line in found.made_again:
                if line.partition(":")[0] in precious:
                    result.problems.append(f"not restored: the data of {line}")
                else:
                    result.made_again.append(line)

    def _with_data(self, stack: Stack) -> set[str]:
        """Return the paths of resources whose objects hold data of users."""
        deleted = self._plan_of_delete(stack)
        return {"/".join(each["path"]) for each in deleted if each.get("holds_data")}

    # -- requests

    def _plan_of_delete(self, stack: Stack) -> list[dict[str, Any]]:
        path, query = f"{stack.path}/preview", {"show_nested": True}
        plan = self._client.call(ORCHESTRATION, "DELETE", path, query=query)
        found: list[dict[str, Any]] = plan["resource_changes"]["deleted"]
        return found

    def _first_body(self) -> Mapping[str, Any]:
        return self._request.create_body() if self._copy is None else self._copy.body

    def _refuse(self, refusal: RefusedError) -> None:
        """Raise the error for a preview that no substitute helps."""
        if self._copy is None:
            body = self._substitutes.fitted(self._first_body())
            self._request.send(self._client, "POST", "/stacks/preview", body)
        lines = "\n".join(f"  {line}" for line in refusal_lines(refusal))
        name = self._first_body()["stack_name"]
        raise InputError(f"{name} cannot be created in the throw-away cloud:\n{lines}")
