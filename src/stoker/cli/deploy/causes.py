"""Explanations of the state of a stack from the service, as values and as lines."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import IO, Any

import click
from msgspec import Struct

from stoker.cli.arguments.naming import the_resource
from stoker.cli.client.client import Client, RefusedError, parsed
from stoker.cli.client.stacks import ORCHESTRATION, SERVERS, Stack, resources_of
from stoker.cli.deploy.remedies import (
    Failure,
    KnownObject,
    ports_in_the_way,
    remedy_for,
    retry_advice,
)
from stoker.cli.deploy.tree import clearing, elapsed
from stoker.kernel.values import replace

# Types that fail because of reports from servers. The server's console has more information.
_WAITS = frozenset((
    "OS::Heat::WaitCondition", "OS::Heat::WaitConditionHandle",
    "AWS::CloudFormation::WaitCondition", "AWS::CloudFormation::WaitConditionHandle",
    "OS::Heat::SoftwareDeployment", "OS::Heat::SoftwareDeploymentGroup",
    "OS::Heat::StructuredDeployment",
))  # fmt: skip
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
# Words before the time. Other states are waiting.
_HEADS = {
    "failed": "failed",
    "aborted": "was aborted",
    "replaced": "was replaced",
    "marked": "was marked unhealthy",
}
_ADVICE = {
    "gate": "it continues on its own",
    "signal": "check the servers' consoles: stoker logs {stack}",
    "marked": "stoker deploy TEMPLATE --name {stack}",
}
_NO_SERVERS = "the stack has no server that could send the signal"
# A place in a failure text: a nested template that was refused.
_NESTED_PLACE = re.compile(r"(?:^|\s)([^\s:]+\.(?:yaml|yml|json|template)):(\d+):\d+:")
_MOST = 10  # causes that are shown in full, about one screen
_NOT_BEGUN = ("dependency", "order")


# Maps a file to the user's name for it; None is the template itself.
ShownAs = Callable[[str | None], str]


class Cause(Struct, frozen=True):
    """The cause of the state of one resource."""

    kind: str
    path: tuple[str, ...]
    type_name: str
    text: str
    since: datetime | None
    waits_for: tuple[str, ...]
    place: str | None  # file and line
    request_id: str | None
    hook: str | None
    stack_name: str
    stack_id: str
    objects: tuple[KnownObject, ...] = ()
    notes: tuple[str, ...] = ()  # additional lines from the cloud

    @property
    def name(self) -> str:
        """Return the path from the explained stack."""
        return "/".join(self.path)

    def lines(self, now: datetime, stack_name: str) -> Iterator[str]:
        """Return the cause and its remedies as lines."""
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
        yield from (
            f"    {each.id} is the resource {each.name}" for each in self.objects if each.name
        )
        yield from (f"    {note}" for note in self.notes)
        yield from (f"    -> {advice}" for advice in self._advice(stack_name))

    @property
    def was_waited_for(self) -> bool:
        """Return whether it failed because of reports, or missing reports, of servers."""
        return self.kind == "failed" and self.type_name in _WAITS

    @property
    def waits_for_servers(self) -> bool:
        """Return whether the report of a server is missing, or was missing at the timeout."""
        return self.was_waited_for or self.kind == "signal"

    def _advice(self, stack_name: str) -> Iterator[str]:
        remedy = remedy_for(Failure(self.name, self.text, self.objects))
        if remedy is not None:
            yield remedy
        elif self.request_id is not None:
            yield f"if the reason is not clear, ask the cloud's operator about {self.request_id}"
        if self.hook is not None:
            # A nested stack is known only by its id.
            stack = self.stack_id if len(self.path) > 1 else self.stack_name
            yield clearing(stack, self.path[-1], self.hook)
        elif self.kind == "retry":
            yield retry_advice(self.text)
        elif self.waits_for_servers and _NO_SERVERS in self.notes:
            yield "call the address of its handle, as its attribute curl_cli does"
        else:
            advice = _ADVICE.get("signal" if self.was_waited_for else self.kind)
            if advice is not None:
                yield advice.format(stack=stack_name)


class Explanation(Struct, frozen=True):
    """The explanation of a stack, or of a resource of it."""

    stack_name: str
    state: str
    reason: str
    since: datetime
    deadline: datetime | None
    causes: tuple[Cause, ...]
    is_complete: bool


def explanation_of(
    client: Client, stack: Stack, path: str | None, shown_as: ShownAs | None = None
) -> tuple[Explanation, Any]:
    """Return the explanation of a stack or a resource, parsed and as received."""
    if path is None:
        answer = client.get(ORCHESTRATION, f"{stack.path}/why")
        return _with_notes(client, stack, parsed_explanation(answer, shown_as)), answer
    *above, name = path.split("/")
    place = stack.path
    if above:
        holder = the_resource(client, stack, path)
        place = f"/stacks/{holder.stack_name}/{holder.stack_id}"
    try:
        answer = client.get(ORCHESTRATION, f"{place}/resources/{name}/why")
    except RefusedError as refusal:
        if refusal.status == 404 and not above:
            the_resource(client, stack, path)
        raise
    inner = parsed_explanation(answer, shown_as)
    causes = tuple(replace(each, path=(*above, *each.path)) for each in inner.causes)
    found = replace(inner, stack_name=stack.name, causes=causes)
    return _with_notes(client, stack, found), answer


def _with_notes(client: Client, stack: Stack, found: Explanation) -> Explanation:
    """Return the explanation with notes from the cloud."""
    notes: dict[int, list[str]] = {}
    for number, cause in enumerate(found.causes[:_MOST]):
        notes[number] = list(ports_in_the_way(client, cause.text))
    waiting = [n for n in notes if found.causes[n].waits_for_servers]
    if waiting and not any(each.type_name in SERVERS for each in resources_of(client, stack)):
        for number in waiting:
            notes[number].append(_NO_SERVERS)
    causes = tuple(
        replace(cause, notes=tuple(notes.get(number, ())))
        for number, cause in enumerate(found.causes)
    )
    return replace(found, causes=causes)


def parsed_explanation(answer: Any, shown_as: ShownAs | None = None) -> Explanation:
    """Parse a response of the service.

    ``shown_as`` maps files to the user's names. Raise
    :class:`stoker.cli.client.client.WrongServiceError`.
    """
    return parsed(lambda found: _explanation(found["why"], shown_as), answer)


def lines_of(found: Explanation, now: datetime) -> Iterator[str]:
    """Yield the state and the causes, each with advice."""
    head = click.style(f"{found.stack_name}: {found.state}", bold=True)
    seconds = max((now - found.since).total_seconds(), 0)
    if found.state.endswith("IN_PROGRESS"):
        head += f" for {elapsed(seconds)}"
    if found.deadline is not None:
        left = (found.deadline - now).total_seconds()
        head += f"; times out in {elapsed(left)}" if left > 0 else "; its time limit has passed"
    yield head
    shown = [cause for cause in found.causes if cause.kind not in _NOT_BEGUN]
    if not found.causes:
        yield f"  {found.reason}"
    elif not shown:  # The cause belongs to a resource that waits for another one.
        shown = list(found.causes)
    for cause in shown[:_MOST]:
        yield ""
        yield from cause.lines(now, found.stack_name)
    rest = [cause for cause in found.causes if cause not in shown]
    if rest:
        yield ""
    for cause in rest[:_MOST]:
        yield f"{click.style('·', dim=True)} {cause.name}  {cause.text}"
    more = max(len(shown) - _MOST, 0) + max(len(rest) - _MOST, 0)
    if more or not found.is_complete:
        count = str(more) if found.is_complete else "many"
        yield f"and {count} more: stoker why {found.stack_name} --json"


def print_steps(
    found: Explanation,
    server: str | None = None,
    shown_as: ShownAs | None = None,
    file: IO[str] | None = None,
) -> None:
    """Print the next steps after a failure. The console of ``server`` may say more."""
    steps = list(steps_of(found, server, shown_as))
    if steps:
        click.echo("\n" + click.style("What next", bold=True), file=file)
    for step in steps:
        click.echo(f"  {step}", file=file)


def steps_of(
    found: Explanation, server: str | None = None, shown_as: ShownAs | None = None
) -> Iterator[str]:
    """Yield next steps after a failure, as commands; none without a failure."""
    failed = [cause for cause in found.causes if cause.kind == "failed"]
    if not failed or found.state.endswith("IN_PROGRESS"):
        return
    name = found.stack_name
    if server is not None:
        yield f"stoker logs {name}/{server}   # the complete console"
    if found.state.startswith("DELETE"):
        yield f"stoker destroy {name}   # after fixing the cause: deletes the rest"
        return
    places = sorted({place for cause in failed for place in _places_to_fix(cause, shown_as)})
    if places:
        yield f"fix {', '.join(places)}, or provide what the cloud is missing"
    if found.state.startswith("ROLLBACK"):
        yield "stoker deploy --no-rollback ...   # leaves what failed for inspection"
    template = "TEMPLATE" if shown_as is None else shlex.quote(shown_as(None))
    yield f"stoker deploy {template} --name {name} ...   # the same command continues from here"
    yield f"stoker destroy {name}   # or delete everything"


def _places_to_fix(cause: Cause, shown_as: ShownAs | None) -> Iterator[str]:
    """Yield the places in a failure text, or else the place of the resource."""
    named = [(match[1], match[2]) for match in _NESTED_PLACE.finditer(cause.text)]
    for file, line in named:
        yield f"{file if shown_as is None else shown_as(file)}:{line}"
    if not named and cause.place is not None:
        yield cause.place


def _explanation(found: Mapping[str, Any], shown_as: ShownAs | None) -> Explanation:
    since = _moment(found["since"])
    assert since is not None
    return Explanation(
        found["stack_name"],
        found["stack_status"],
        found["stack_status_reason"],
        since,
        _moment(found["deadline"]),
        tuple(_causes(found["causes"], shown_as)),
        found["complete"],
    )


def _causes(found: Sequence[Mapping[str, Any]], shown_as: ShownAs | None) -> Iterator[Cause]:
    for each in found:
        position = each["position"]
        yield Cause(
            each["kind"],
            tuple(each["path"]),
            each["resource_type"],
            each["text"],
            _moment(each["since"]),
            tuple(each["waits_for"]),
            None if position is None else _place(position, shown_as),
            each["request_id"],
            each["hook"],
            each["stack_name"],
            each["stack_id"],
            tuple(
                KnownObject(
                    known["id"],
                    None if known["path"] is None else "/".join(known["path"]),
                    tuple("/".join(path) for path in known["used_by"]),
                )
                for known in each.get("objects") or ()
            ),
        )


def _place(position: Mapping[str, Any], shown_as: ShownAs | None) -> str:
    file, line = position["file"], position["line"]
    if shown_as is not None:
        return f"{shown_as(file)}:{line}"
    return f"line {line} of the template" if file is None else f"{file}:{line}"


def _moment(text: str | None) -> datetime | None:
    return (
        None if text is None else datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    )
