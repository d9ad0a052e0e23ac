"""A scenario: templates, requests and their times, drawn from a seed."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stoker.kernel.values import replace
from stoker.template.environment.registry import HOOKS
from tests.simulation.cloudformation import exporting

CHILD = "child.yaml"
NAMESPACE, METRIC = "system/linux", "Load"  # name of the measured metric
# Files of nested stacks.
FILES = {
    CHILD: """
heat_template_version: 2018-08-31
parameters:
  value: {type: string}
resources:
  one:
    type: Sim::Thing
    properties: {value: {get_param: value}, slow: 3}
  two:
    type: Sim::Thing
    properties: {value: same, uses: {get_resource: one}}
outputs:
  value: {value: {get_attr: [one, value]}}
"""
}


@dataclass(frozen=True)
class Request:
    """A request of a user, this many seconds after the start."""

    at: float
    # ``create``, ``update``, ``refactor``, ``delete``, ``abandon``, ``adopt``, ``suspend``,
    # ``resume``, ``check``, ``cancel_update``, ``cancel_without_rollback``, ``snapshot``;
    # ``restore`` or ``drop`` of the oldest snapshot; ``show``, which makes a change set, and
    # ``execute`` of that.
    action: str
    template: dict[str, Any] | None = None
    rollback: bool = False
    timeout_mins: int | None = None
    environment: dict[str, Any] = field(default_factory=dict)  # with hooks
    rests: bool = False  # whether ``at`` counts from the end of all earlier requests
    # Change of the cloud just before: ``full``, ``locked NAME``, ``free``, ``down``, ``vanish
    # NAME``, ``tamper NAME``, ``by-hand NAME``, ``place NAME`` or ``fill CONTENT``.
    cloud: str = ""
    converge: bool = False  # whether an update reads the live objects first
    # Client token that identifies a repeated request. A user with a token does not check whether
    # the request was recorded.
    token: str = ""
    # Exports of the template: resource and value by export name.
    exports: Mapping[str, str] = field(default_factory=dict)
    deletes: bool = False  # whether a failed create deletes the stack
    releases: tuple[str, ...] = ()  # removed resources whose objects stay
    moves: Mapping[str, str] = field(default_factory=dict)  # new paths by old, of a refactor
    express: bool = False

    @property
    def document(self) -> dict[str, Any] | None:
        """The template as it is sent."""
        if self.template is None or not self.exports:
            return self.template
        return exporting(self.template, self.exports)


@dataclass(frozen=True)
class Kill:
    """The death of an engine."""

    after: int  # turns of its loop
    # It was only frozen, and continues for a while when its successor has acquired the stack.
    returns: bool
    # When its requests in flight are done: ``soon``, ``late``, ``never`` or ``any``.
    fate: str = "never"


@dataclass(frozen=True)
class Scenario:
    """A scenario: requests, signals, faults and deaths."""

    requests: tuple[Request, ...]
    signals: tuple[float, ...] = ()  # when the gate is signalled
    fails: bool = False  # whether a part of it is bound to fail, or may time out
    kills: tuple[Kill, ...] = ()  # the death of each engine except the last, which lives on
    hooks: bool = False  # whether resources stop at hooks, which a user clears
    scales: tuple[float, ...] = ()  # when the scaling policy is signalled
    restarts: tuple[float, ...] = ()  # when the restarter is signalled
    # Measurements of the metric that the alarm watches: time and value.
    measures: tuple[tuple[float, float], ...] = ()
    alarm: str | None = None  # final state of the alarm, if it is known
    # Whether software is deployed to a server, whose agent applies it and reports.
    deploys: bool = False
    name: str = ""  # name of a story that was not drawn
    # Ends of its operations, as events report them: known beforehand for most stories.
    ends: tuple[str, ...] | None = None
    # Whether no request meets another one in progress: each death leads to the same calls.
    exact: bool = False
    # Transactions that fail (:class:`tests.simulation.disk.Disk`).
    disk: Mapping[int, str] = field(default_factory=dict)
    read_faults: frozenset[int] = frozenset()  # numbers of reading transactions that fail
    # Numbers of calls to the cloud for which the machine has no file descriptor.
    lacks: frozenset[int] = frozenset()
    trouble: float = 0.2  # rate of requests that the cloud rejects, or that lose their response
    reads: bool = True  # whether a reader polls the stack
    # Names of resources whose objects others change or delete.
    meddled: frozenset[str] = frozenset()
    # Final contents of objects by resource name, if they are known.
    contents: Mapping[str, str] = field(default_factory=dict)
    # Names of resources whose last object stays, although the stack no longer has them.
    released: frozenset[str] = frozenset()

    # Whether a receiver of notifications exists, which is unavailable now and then.
    notified: bool = False

    @property
    def good_request(self) -> Request:
        """Return the final template: the last one that does not fail, by the known ends."""
        ends = [end for end in self.ends or () if not end.startswith("ROLLBACK")]
        told = zip(self.requests, ends, strict=True)
        return [request for request, end in told if end.endswith("COMPLETE")][-1]

    @property
    def watched_until(self) -> float:
        """Seconds after the start until which alarms are looked after."""
        return self.measures[-1][0] + 3 if self.measures else 0.0

    @property
    def calm(self) -> Scenario:
        """The same, with nothing that dies or fails of itself."""
        none: frozenset[int] = frozenset()
        return replace(self, kills=(), disk={}, read_faults=none, lacks=none, trouble=0.0)


def draw(seed: int) -> Scenario:
    """The scenario of a seed."""
    source = random.Random(seed * 7919 + 17)
    fails = source.random() < 0.4
    gate = source.random() < 0.4
    nests = source.random() < 0.35
    first = _template(source, source.randint(1, 7), fails=fails, gate=gate, nests=nests)
    requests = [
        Request(0.0, "create", first, fails and source.random() < 0.5, _timeout(source, fails))
    ]
    at, latest = 0.0, first
    for _ in range(source.choice((0, 0, 1, 1, 2))):
        at += source.choice((0.5, 2.0, 200.0, 400.0))
        latest = _changed(source, latest, fails=fails)
        rollback = fails and source.random() < 0.5
        requests.append(Request(at, "update", latest, rollback, _timeout(source, fails)))
    if source.random() < 0.4:
        requests.append(Request(at + source.choice((0.3, 3.0, 500.0)), "delete"))
    signals = tuple(sorted(source.uniform(1, 8) for _ in range(2))) if gate else ()
    kills = tuple(
        Kill(int(10 * 40 ** source.random()), returns=source.random() < 0.3)
        for _ in range(source.choice((0, 1, 1, 2, 3, 4)))
    )
    scenario = Scenario(tuple(requests), signals, fails, kills)
    # from sources of their own: the other scenarios stay what they were
    scenario = _with_group(random.Random(seed * 7 + 5), _with_hooks(seed, scenario))
    scenario = _with_cancel(random.Random(seed * 31 + 11), scenario)
    scenario = _with_walks(random.Random(seed * 53 + 29), scenario)
    scenario = _handed_over(random.Random(seed * 37 + 13), scenario)
    scenario = _with_snapshots(random.Random(seed * 61 + 41), scenario)
    scenario = _with_repairs(random.Random(seed * 67 + 43), scenario)
    scenario = _with_deployments(random.Random(seed * 71 + 47), scenario)
    scenario = _with_bad_starts(random.Random(seed * 73 + 53), scenario)
    scenario = _with_restarts(random.Random(seed * 79 + 59), scenario)
    return replace(scenario, notified=seed % 5 == 3)


def _with_repairs(source: random.Random, scenario: Scenario) -> Scenario:
    """The scenario with updates that converge, after others have changed or deleted an object."""
    abandons = any(request.action == "abandon" for request in scenario.requests)
    if abandons or source.random() >= 0.25:
        return scenario
    requests = [
        replace(each, converge=True, cloud=source.choice(("", "tamper r0", "vanish r0")))
        if each.action == "update" and not each.cloud
        else each
        for each in scenario.requests
    ]
    if requests[-1].action == "update":  # one that nothing supersedes or cuts off
        requests.append(replace(requests[-1], at=5.0, rests=True, cloud=""))
    return replace(scenario, requests=tuple(requests), fails=True, meddled=frozenset({"r0"}))


def _with_restarts(source: random.Random, scenario: Scenario) -> Scenario:
    """The scenario with a server that is restarted by users, by an alarm, or by both.

    Where there is a scaling policy, the alarm may signal that instead.
    """
    abandons = any(request.action == "abandon" for request in scenario.requests)
    if abandons or source.random() >= 0.3:
        return scenario
    action = source.choice(("restarter", "policy")) if scenario.scales else "restarter"
    more = {**RESTARTED, "alarm": alarm(action)}
    requests = [
        replace(
            each, template={**each.template, "resources": {**each.template["resources"], **more}}
        )
        if each.template
        else each
        for each in scenario.requests
    ]
    by_users, by_alarm = source.choice(((True, False), (False, True), (True, True)))
    pauses = (source.choice((0.5, 5.0, 50.0, 450.0)) for _ in range(source.randint(1, 3)))
    times = sorted(2.0 + pause * source.random() for pause in pauses) if by_users else ()
    levels = [source.choice((90.0, 10.0)) for _ in range(5)] if by_alarm else []
    start = source.choice((2.0, 150.0, 400.0))
    measures = [(start + 8.0 * at, levels[at // 3]) for at in range(3 * len(levels))]
    return replace(
        scenario, requests=tuple(requests), restarts=tuple(times), measures=tuple(measures)
    )


# A server, its dependents, and a resource that has both replaced.
RESTARTED: dict[str, Any] = {
    "server": {"type": "Sim::Thing", "properties": {"value": "s", "slow": 2}},
    "tenant": {"type": "Sim::Thing", "properties": {"uses": {"get_resource": "server"}}},
    "restarter": {
        "type": "Sim::Restarter",
        "properties": {"InstanceId": {"get_resource": "server"}},
    },
}


def alarm(action: str) -> dict[str, Any]:
    """An alarm that signals a resource."""
    return {
        "type": "OS::Heat::CWLiteAlarm",
        "properties": {
            "Namespace": NAMESPACE,
            "MetricName": METRIC,
            "Period": "20",
            "EvaluationPeriods": "1",
            "Statistic": "Average",
            "ComparisonOperator": "GreaterThanThreshold",
            "Threshold": "50",
            "AlarmActions": [{"get_resource": action}],
        },
    }


def _with_bad_starts(source: random.Random, scenario: Scenario) -> Scenario:
    """The scenario with creates that find no identity service at first, or are refused once."""
    if source.random() >= 0.5:
        return scenario
    faults = ("once", "away") if scenario.fails else ("away",)
    requests = [
        replace(each, template=_starting_badly(source, each.template, faults))
        if each.template
        else each
        for each in scenario.requests
    ]
    return replace(scenario, requests=tuple(requests))


def _starting_badly(
    source: random.Random, wanted: dict[str, Any], faults: Sequence[str]
) -> dict[str, Any]:
    """Return the template with some objects whose first creates fail."""
    resources = {
        name: {**body, "properties": {"fail": source.choice(faults), **body["properties"]}}
        if body["type"] in ("Sim::Thing", "Sim::Disk") and source.random() < 0.3
        else body
        for name, body in wanted["resources"].items()
    }
    return {**wanted, "resources": resources}


def _with_deployments(source: random.Random, scenario: Scenario) -> Scenario:
    """The scenario with software for a server, whatever else is under way."""
    abandons = any(request.action == "abandon" for request in scenario.requests)
    if abandons or source.random() >= 0.2:
        return scenario
    requests = [
        replace(each, template=_deploying(source, each.template)) if each.template else each
        for each in scenario.requests
    ]
    return replace(scenario, requests=tuple(requests), deploys=True, fails=True)


def _deploying(source: random.Random, wanted: dict[str, Any]) -> dict[str, Any]:
    """The template with a deployment, which may be there or not."""
    if source.random() < 0.2:
        return wanted
    given = {"value": source.choice("ab"), "other": {"get_attr": ["r0", "value"]}}
    actions = source.choice((["CREATE", "UPDATE"], ["CREATE", "UPDATE", "DELETE"]))
    properties = {"server": "server", "actions": actions, "input_values": given}
    deployment = {"type": "Sim::Deployment", "properties": properties}
    return {**wanted, "resources": {**wanted["resources"], "software": deployment}}


def _with_snapshots(source: random.Random, scenario: Scenario) -> Scenario:
    """The scenario with disks, and snapshots of the stack, whatever else is under way."""
    abandons = any(request.action == "abandon" for request in scenario.requests)
    if abandons or source.random() >= 0.25:
        return scenario  # an abandoned stack leaves its images without an owner
    requests = [
        replace(each, template=_with_disks(source, each.template)) if each.template else each
        for each in scenario.requests
    ]
    at = source.choice(scenario.requests).at
    for action in source.choice(
        (["snapshot"], ["snapshot", "restore"], ["snapshot", "restore", "snapshot", "drop"])
    ):
        at += source.choice((1.0, 3.0, 60.0, 150.0))
        requests.append(Request(at, action, cloud=source.choice(("", "fill x", "fill y"))))
    requests.sort(key=lambda request: request.at)
    return replace(scenario, requests=tuple(requests), fails=True)


def _with_disks(source: random.Random, wanted: dict[str, Any]) -> dict[str, Any]:
    """The template with disks beside the rest."""
    disks = {
        f"disk{number}": {"type": "Sim::Disk", "properties": {"value": source.choice("ab")}}
        for number in range(source.randint(0, 2))
    }
    return {**wanted, "resources": {**wanted["resources"], **disks}}


def _with_walks(source: random.Random, scenario: Scenario) -> Scenario:
    """The scenario with walks between its requests, or while one is under way."""
    if source.random() >= 0.25:
        return scenario
    at = source.choice(scenario.requests).at
    walks = []
    for action in source.choice((["check"], ["suspend", "resume"], ["check", "suspend", "resume"])):
        at += source.choice((1.0, 3.0, 60.0, 150.0))
        walks.append(Request(at, action))
    requests = sorted((*scenario.requests, *walks), key=lambda request: request.at)
    return replace(scenario, requests=tuple(requests), fails=True)


def _handed_over(source: random.Random, scenario: Scenario) -> Scenario:
    """The scenario with a stack that is abandoned and adopted once it has been created."""
    plain = not (scenario.fails or scenario.hooks or scenario.signals or scenario.scales)
    if not plain or source.random() >= 0.3:
        return scenario
    first, *others = scenario.requests
    pauses = (source.choice((0.5, 5.0, 200.0)) for _ in range(2))
    handover = [Request(next(pauses), action, rests=True) for action in ("abandon", "adopt")]
    others = [replace(each, rests=True) for each in others]
    return replace(scenario, requests=(first, *handover, *others))


def _with_cancel(source: random.Random, scenario: Scenario) -> Scenario:
    """The scenario with a cancel soon after one of its requests."""
    if source.random() >= 0.2:
        return scenario
    at = source.choice(scenario.requests).at + source.choice((0.2, 1.0, 3.0, 20.0))
    cancel = Request(at, "cancel_without_rollback")
    requests = sorted((*scenario.requests, cancel), key=lambda request: request.at)
    return replace(scenario, requests=tuple(requests), fails=True)


def _with_hooks(seed: int, scenario: Scenario) -> Scenario:
    source = random.Random(seed * 104729 + 31)
    if source.random() >= 0.4:
        return scenario
    requests = (replace(each, environment=_hooks(source)) for each in scenario.requests)
    return replace(scenario, requests=tuple(requests), hooks=True)


def _with_group(source: random.Random, scenario: Scenario) -> Scenario:
    """The scenario with a scaling group, whose members some updates change batch by batch."""
    if source.random() >= 0.3:
        return scenario
    requests = [
        replace(each, template=_grouped(source, each.template)) if each.template else each
        for each in scenario.requests
    ]
    times = sorted(source.choice((0.5, 5.0, 50.0, 450.0)) * source.random() for _ in range(4))
    return replace(scenario, requests=tuple(requests), scales=tuple(times))


def _grouped(source: random.Random, wanted: dict[str, Any]) -> dict[str, Any]:
    member = {"type": "Sim::Thing", "properties": {"value": source.choice("aab"), "slow": 2}}
    rolling = {"max_batch_size": 1, "pause_time": source.choice((0, 7))}
    sizes = {"min_size": 1, "max_size": 4, "rolling_updates": rolling}
    group = {"type": "OS::Heat::AutoScalingGroup", "properties": {**sizes, "resource": member}}
    adjustment = {"adjustment_type": "change_in_capacity", "scaling_adjustment": 1}
    reference = {"auto_scaling_group_id": {"get_resource": "group"}}
    policy = {"type": "Sim::Policy", "properties": {**adjustment, **reference}}
    return {**wanted, "resources": {**wanted["resources"], "group": group, "policy": policy}}


def _hooks(source: random.Random) -> dict[str, Any]:
    """An environment with hooks for some names, globs, and resources of the nested stack."""
    names = ("r0", "r1", "r2", "r*", "gate", "nest", "*")
    entries: dict[str, Any] = {
        name: {"hooks": source.sample(HOOKS, source.randint(1, 3))}
        for name in source.sample(names, source.randint(1, 3))
    }
    if source.random() < 0.5:
        entries.setdefault("nest", {})["o*"] = {"hooks": source.sample(HOOKS, 2)}
    return {"resource_registry": {"resources": entries}}


def _timeout(source: random.Random, fails: bool) -> int | None:
    return 1 if fails and source.random() < 0.3 else None


def _template(
    source: random.Random, size: int, *, fails: bool, gate: bool, nests: bool
) -> dict[str, Any]:
    resources: dict[str, Any] = {}
    for number in range(size):
        resources[f"r{number}"] = _thing(source, list(resources), fails=fails)
    if gate:
        resources["gate"] = {"type": "Sim::Gate", "properties": {"count": 2}}
        if source.random() < 0.5:
            resources["r0"]["depends_on"] = "gate"
    if nests:
        given: dict[str, Any] = {"value": source.choice("abc")}
        if source.random() < 0.5:
            given["value"] = {"get_attr": ["r0", "value"]}
        resources["nest"] = {"type": CHILD, "properties": given}
    outputs = {"o": {"value": {"get_attr": ["r0", "value"]}}}
    return {"heat_template_version": "2018-08-31", "resources": resources, "outputs": outputs}


def _thing(source: random.Random, others: list[str], *, fails: bool) -> dict[str, Any]:
    properties: dict[str, Any] = {"value": source.choice("abc")}
    if source.random() < 0.4:
        properties["slow"] = source.choice((1, 5, 30))
    if fails and source.random() < 0.2:
        properties["fail"] = source.choice(("create", "update"))
    if fails and source.random() < 0.1:
        properties["slow"] = 300
    if others and source.random() < 0.7:
        properties["uses"] = {"get_resource": source.choice(others)}
    elif others and source.random() < 0.5:
        properties["value"] = {"get_attr": [source.choice(others), "value"]}
    return {"type": "Sim::Thing", "properties": properties}


def _changed(source: random.Random, old: dict[str, Any], *, fails: bool) -> dict[str, Any]:
    """The template with some values changed, some resources replaced, added and taken away."""
    resources: dict[str, Any] = {}
    for name, body in old["resources"].items():
        if body["type"] == CHILD:
            resources[name] = {"type": CHILD, "properties": {"value": source.choice("abc")}}
            continue
        if body["type"] != "Sim::Thing":
            continue
        if name == "r0" or source.random() >= 0.15:
            resources[name] = _altered(source, body, resources)
    if "gate" in old["resources"]:
        resources["gate"] = old["resources"]["gate"]
    if source.random() < 0.5:
        number = 100 + source.randrange(10**6)
        things = [n for n in resources if n not in ("gate", "nest")]
        resources[f"r{number}"] = _thing(source, things, fails=fails)
    return {**old, "resources": resources}


def _altered(source: random.Random, body: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """Return a resource with other values; an object that it referred to may be gone."""
    properties = {
        key: value
        for key, value in body["properties"].items()
        if not isinstance(value, dict) or _target(value) in before
    }
    properties.setdefault("value", "free")
    if source.random() < 0.4 and not isinstance(properties["value"], dict):
        properties["value"] = source.choice("defg")
    if source.random() < 0.25:
        properties["fixed"] = source.choice("xyz")
    if properties.get("fail") and source.random() < 0.5:
        del properties["fail"]
    return {**body, "properties": properties}


def _target(reference: dict[str, Any]) -> str:
    """The resource that a reference names."""
    ((_, argument),) = reference.items()
    return str(argument[0] if isinstance(argument, list) else argument)
