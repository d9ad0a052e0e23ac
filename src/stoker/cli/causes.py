"""Why a stack is as it is: what the service says of it, as values and as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import click
from msgspec import Struct

from stoker.cli.client import Client, Refused, parsed
from stoker.cli.naming import the_resource
from stoker.cli.stacks import ORCHESTRATION, Stack
from stoker.cli.tree import clearing, elapsed
from stoker.kernel.values import replace

_WAITS = frozenset((
    "OS::Heat::WaitCondition", "OS::Heat::WaitConditionHandle",
    "AWS::CloudFormation::WaitCondition", "AWS::CloudFormation::WaitConditionHandle",
    "OS::Heat::SoftwareDeployment", "OS::Heat::SoftwareDeploymentGroup",
    "OS::Heat::StructuredDeployment",
))  # fmt: skip
"""Types that fail for what servers report: their consoles then say more."""
_SIGNS = {
    "failed": ("✗", "red"),
    "aborted": ("✗", "red"),
    "hook": ("‖", "yellow"),
    "dependency": ("·", "white"),
    "order": ("·", "white"),
    "replaced": ("±", "magenta"),
    "marked": ("!", "yellow"),
    "nothing": ("✓", "green"),
}
_OTHER = ("●", "yellow")
_HEADS = {
    "failed": "failed",
    "aborted": "was aborted",
    "replaced": "was replaced",
    "marked": "was marked unhealthy",
}
"""What is said before the time; all others wait."""
_ADVICE = {
    "retry": "it is retried automatically; the operation fails only if the cloud never accepts it",
    "gate": "it continues on its own",
    "signal": "check the servers' consoles: stoker logs {stack}",
    "marked": "stoker deploy TEMPLATE --name {stack}",
}
_MOST = 10
"""Causes that are told in full; one screen."""
_NOT_BEGUN = ("dependency", "order")


class Cause(Struct, frozen=True):
    """Why one resource is as it is."""

    kind: str
    path: tuple[str, ...]
    type_name: str
    text: str
    since: datetime | None
    waits_for: tuple[str, ...]
    place: str | None
    """File and line."""
    request_id: str | None
    hook: str | None
    stack_name: str
    stack_id: str

    @property
    def name(self) -> str:
        """Where it is, from the stack that is asked about."""
        return "/".join(self.path)

    def lines(self, now: datetime, stack_name: str) -> Iterator[str]:
        """The cause, and what to do about it."""
        sign, colour = _SIGNS.get(self.kind, _OTHER)
        head = click.style(sign, fg=colour) + f" {self.name or stack_name}"
        if self.type_name:
            head += "  " + click.style(self.type_name, dim=True)
        if self.place is not None:
            head += "  " + click.style(f"({self.place})", dim=True)
        yield head
        what = _HEADS.get(self.kind, "waits")
        if self.kind == "nothing":
            what = "waits for nothing"
        elif self.since is not None:
            seconds = max((now - self.since).total_seconds(), 0)
            ended = self.kind in _HEADS
            what += f" {elapsed(seconds)} ago" if ended else f" for {elapsed(seconds)}"
        first, *more = self.text.splitlines() or [""]
        yield f"    {what}: {first}"
        yield from (f"    {line}" for line in more)
        if self.request_id is not None:
            yield f"    -> search the cloud's logs for {self.request_id}"
        advice = self._advice(stack_name)
        if advice is not None:
            yield f"    -> {advice}"

    @property
    def was_waited_for(self) -> bool:
        """Whether it failed for what servers report, or did not."""
        return self.kind == "failed" and self.type_name in _WAITS

    def _advice(self, stack_name: str) -> str | None:
        if self.hook is not None:
            # a nested stack is known by its id alone
            stack = self.stack_id if len(self.path) > 1 else self.stack_name
            return clearing(stack, self.path[-1], self.hook)
        advice = _ADVICE.get("signal" if self.was_waited_for else self.kind)
        return None if advice is None else advice.format(stack=stack_name)


class Explanation(Struct, frozen=True):
    """Why a stack, or a resource of it, is as it is."""

    stack_name: str
    state: str
    reason: str
    since: datetime
    deadline: datetime | None
    causes: tuple[Cause, ...]
    is_complete: bool


def explanation_of(client: Client, stack: Stack, path: str | None) -> tuple[Explanation, Any]:
    """What the service says of a stack or of a resource in it, as values and as it says it."""
    if path is None:
        answer = client.get(ORCHESTRATION, f"{stack.path}/why")
        return parsed_explanation(answer), answer
    *above, name = path.split("/")
    place = stack.path
    if above:
        found = the_resource(client, stack, path)
        place = f"/stacks/{found.stack_name}/{found.stack_id}"
    try:
        answer = client.get(ORCHESTRATION, f"{place}/resources/{name}/why")
    except Refused as refusal:
        if refusal.status == 404 and not above:
            the_resource(client, stack, path)
        raise
    inner = parsed_explanation(answer)
    causes = tuple(replace(each, path=(*above, *each.path)) for each in inner.causes)
    return replace(inner, stack_name=stack.name, causes=causes), answer


def parsed_explanation(answer: Any) -> Explanation:
    """An answer of the service as values. Raises :class:`stoker.cli.client.Odd`."""
    return parsed(lambda found: _explanation(found["why"]), answer)


def lines_of(found: Explanation, now: datetime) -> Iterator[str]:
    """The state and the causes, each with advice."""
    head = click.style(f"{found.stack_name}: {found.state}", bold=True)
    seconds = max((now - found.since).total_seconds(), 0)
    if found.state.endswith("IN_PROGRESS"):
        head += f" for {elapsed(seconds)}"
    if found.deadline is not None:
        left = (found.deadline - now).total_seconds()
        head += f"; times out in {elapsed(left)}" if left > 0 else "; its time limit has passed"
    yield head
    told = [cause for cause in found.causes if cause.kind not in _NOT_BEGUN]
    if not found.causes:
        yield f"  {found.reason}"
    elif not told:  # of a resource that waits for another
        told = list(found.causes)
    for cause in told[:_MOST]:
        yield ""
        yield from cause.lines(now, found.stack_name)
    rest = [cause for cause in found.causes if cause not in told]
    if rest:
        yield ""
    for cause in rest[:_MOST]:
        yield f"{click.style('·', dim=True)} {cause.name}  {cause.text}"
    more = max(len(told) - _MOST, 0) + max(len(rest) - _MOST, 0)
    if more or not found.is_complete:
        count = str(more) if found.is_complete else "many"
        yield f"and {count} more: stoker why {found.stack_name} --json"


def print_steps(found: Explanation, server: str | None = None) -> None:
    """What next, after a failure; ``server`` is one whose console may tell more."""
    steps = list(steps_of(found, server))
    if steps:
        click.echo("\n" + click.style("What next", bold=True))
    for step in steps:
        click.echo(f"  {step}")


def steps_of(found: Explanation, server: str | None = None) -> Iterator[str]:
    """What can be done about a failure, as commands; nothing where there is none."""
    failed = [cause for cause in found.causes if cause.kind == "failed"]
    if not failed or found.state.endswith("IN_PROGRESS"):
        return
    name = found.stack_name
    if server is not None:
        yield f"stoker logs {name}/{server}   # the complete console"
    if found.state.startswith("DELETE"):
        yield f"stoker destroy {name}   # after fixing the cause: deletes the rest"
        return
    places = sorted({cause.place for cause in failed if cause.place is not None})
    if places:
        yield f"fix {', '.join(places)}, or provide what the cloud is missing"
    if found.state.startswith("ROLLBACK"):
        yield "stoker deploy --no-rollback ...   # leaves what failed for inspection"
    yield f"stoker deploy TEMPLATE --name {name}   # continues from here"
    yield f"stoker destroy {name}   # or delete everything"


def _explanation(found: Mapping[str, Any]) -> Explanation:
    since = _moment(found["since"])
    assert since is not None
    return Explanation(
        found["stack_name"],
        found["stack_status"],
        found["stack_status_reason"],
        since,
        _moment(found["deadline"]),
        tuple(_causes(found["causes"])),
        found["complete"],
    )


def _causes(found: Sequence[Mapping[str, Any]]) -> Iterator[Cause]:
    for each in found:
        position = each["position"]
        yield Cause(
            each["kind"],
            tuple(each["path"]),
            each["resource_type"],
            each["text"],
            _moment(each["since"]),
            tuple(each["waits_for"]),
            None if position is None else _place(position),
            each["request_id"],
            each["hook"],
            each["stack_name"],
            each["stack_id"],
        )


def _place(position: Mapping[str, Any]) -> str:
    file, line = position["file"], position["line"]
    return f"line {line} of the template" if file is None else f"{file}:{line}"


def _moment(text: str | None) -> datetime | None:
    return (
        None if text is None else datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    )
