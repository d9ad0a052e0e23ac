"""Starts deployments: creates or updates a stack exactly once, even if responses are lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import click
from msgspec import Struct
from rich.console import Console

from stoker.cli.arguments.naming import the_stack
from stoker.cli.client.client import Client, parsed
from stoker.cli.client.retry import handles_to_renew, renew
from stoker.cli.client.retry_policy import RetryPolicy
from stoker.cli.client.stacks import (
    ORCHESTRATION,
    Resource,
    Stack,
    find_stack,
    has_started,
    last_event_id,
    planned_resources,
    resources_of,
)
from stoker.cli.console.console import say
from stoker.cli.console.failures import CommandError
from stoker.cli.console.findings import DocumentError
from stoker.cli.deploy.causes import ShownAs
from stoker.cli.deploy.confirmation import confirm_changes, print_warnings
from stoker.cli.deploy.plan import Change, summary, tree
from stoker.cli.deploy.progress import started_on
from stoker.cli.deploy.quotas import warnings_in
from stoker.cli.deploy.request import DeployRequest
from stoker.cli.deploy.saved_plans import CREATE, DELETE, SavedPlan

_UNMADE = "CREATE_FAILED"  # state of a stack or resource that was never complete


class StartedDeployment(Struct, frozen=True):
    """An operation that was requested."""

    stack: Stack
    last: str | None = None  # id of the last event before it
    planned: Sequence[Resource] = ()
    shown_as: ShownAs | None = None  # Maps files to the user's names.


class Deployment(Struct, frozen=True):
    """Starts the operation of a command."""

    client: Client
    console: Console
    patience: RetryPolicy

    def of_template(
        self, request: DeployRequest, settings: Mapping[str, Any], *, yes: bool
    ) -> StartedDeployment:
        """Start to create or update the stack."""
        existing = self.patience.ask(partial(find_stack, self.client, request.name), first=True)
        if existing is None:
            return self._created(request, {**request.create_body(), **settings})
        if not yes:
            self._confirm(request, existing)
        elif existing.state != _UNMADE:
            self._refuse_impossible(request, existing)
        self._renew_handles(existing)
        body = {**request.update_body(), **settings}
        last = self.patience.ask(partial(last_event_id, self.client, existing))
        self.patience.begin(
            partial(request.send, self.client, request.method, existing.path, body),
            partial(has_started, self.client, existing, "UPDATE", last),
        )
        stack = started_on(self.client, request.name, self.patience)
        return StartedDeployment(stack, last, shown_as=request.sent.place)

    def of_plan(self, saved: SavedPlan, settings: Mapping[str, Any]) -> StartedDeployment:
        """Start exactly the operation of a saved plan.

        Raise :class:`CommandError` if the plan is outdated.
        """
        client, patience = self.client, self.patience
        body = {**saved.body, **settings, "plan_fingerprint": saved.fingerprint}
        if saved.action == CREATE:
            before = patience.ask(partial(find_stack, client, saved.stack_name), first=True)
            patience.begin(
                partial(client.call, ORCHESTRATION, "POST", "/stacks", body),
                lambda: before is None and find_stack(client, saved.stack_name) is not None,
            )
            return StartedDeployment(started_on(client, saved.stack_name, patience))
        stack = patience.ask(partial(the_stack, client, str(saved.stack_id)), first=True)
        last = patience.ask(partial(last_event_id, client, stack))
        if saved.action == DELETE:
            query = {"plan_fingerprint": saved.fingerprint}
            request = partial(client.call, ORCHESTRATION, "DELETE", stack.path, query=query)
            is_started = partial(has_started, client, stack, "DELETE", last)
        else:
            request = partial(client.call, ORCHESTRATION, "PUT", stack.path, body)
            is_started = partial(has_started, client, stack, "UPDATE", last)
        patience.begin(request, is_started)
        return StartedDeployment(started_on(client, stack.id, patience), last)

    def _created(self, request: DeployRequest, body: Mapping[str, Any]) -> StartedDeployment:
        preview = None
        if self.console.is_terminal:  # The tree on a terminal shows it.
            path = "/stacks/preview?quotas=true"
            preview = self.patience.ask(partial(request.send, self.client, "POST", path, body))
            warnings = parsed(lambda answer: list(warnings_in(answer)), preview)
            print_warnings(warnings, self.console)
        self.patience.begin(
            partial(request.send, self.client, "POST", "/stacks", body),
            lambda: find_stack(self.client, request.name) is not None,
        )
        stack = started_on(self.client, request.name, self.patience)
        planned = planned_resources(preview, stack) if preview else ()
        return StartedDeployment(stack, None, planned, request.sent.place)

    def _renew_handles(self, existing: Stack) -> None:
        """Mark handles with an old failure signal, so that the update replaces them."""
        handles = self.patience.ask(partial(handles_to_renew, self.client, existing))
        self.patience.ask(partial(renew, self.client, handles))
        for handle in handles:
            say(
                self.console,
                f"{handle.name} still holds the failure of an earlier attempt; replacing it, and"
                " the servers that report to it.",
            )

    def _refuse_impossible(self, request: DeployRequest, existing: Stack) -> None:
        """Raise :class:`DocumentError` for changes that the plan refuses, but the update would
        try."""
        try:
            plan = request.plan(self.client, existing)
        except DocumentError:
            raise
        except CommandError:
            return  # The update itself reports the error, or is attempted.
        print_warnings(plan.warnings, self.console)

    def _confirm(self, request: DeployRequest, existing: Stack) -> None:
        """Show the plan and ask, if working objects are deleted or interrupted, or data is lost.

        An object that failed after its create still has data. A stack that was never complete has
        nothing but data to lose.
        """
        plan = self.patience.ask(partial(request.plan, self.client, existing))
        harmful = [change for change in plan.changes if change.is_loss or change.interruptions]
        if harmful:
            resources = self.patience.ask(partial(resources_of, self.client, existing))
            states = {(r.stack_name, r.name): r.state for r in resources}

            def is_harmful(change: Change) -> bool:
                state = states.get((change.stack_name, change.name), "")
                if change.loses_data:
                    return state != _UNMADE
                return existing.state != _UNMADE and not state.endswith("_FAILED")

            harmful = list(filter(is_harmful, harmful))
        if harmful:
            click.echo(tree(plan.changes), file=self.console.file)
        print_warnings(plan.warnings, self.console)
        if not harmful:
            return
        question = f"{request.name}: {summary(plan.changes)}. Go ahead?"
        confirm_changes(question, harmful, self.client)
