"""Named scenarios: small ones whose every turn can be the last one of an engine.

Each knows how it must end. Later requests of a story wait, in most cases, until all activity has
ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.kernel.values import replace
from stoker.template.environment.registry import HOOKS
from tests.simulation.scenario import CHILD, RESTARTED, Request, Scenario, alarm


def _thing(*, depends_on: str | None = None, **properties: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"type": "Sim::Thing", "properties": properties}
    return body if depends_on is None else {**body, "depends_on": depends_on}


def _moved(earlier: str, **properties: Any) -> dict[str, Any]:
    return {**_thing(**properties), "metadata": {"stoker": {"moved_from": earlier}}}


def _imported(object_id: str, **properties: Any) -> dict[str, Any]:
    return {**_thing(**properties), "metadata": {"stoker": {"import": object_id}}}


def _uses(name: str) -> dict[str, str]:
    return {"get_resource": name}


def _value_of(name: str) -> dict[str, list[str]]:
    return {"get_attr": [name, "value"]}


def _template(**resources: Any) -> dict[str, Any]:
    outputs = {"o": {"value": _value_of("a")}} if "a" in resources else {}
    return {"heat_template_version": "2018-08-31", "resources": resources, "outputs": outputs}


def _create(template: dict[str, Any], **more: Any) -> Request:
    return Request(0.0, "create", template, **more)


def _update(template: dict[str, Any], **more: Any) -> Request:
    return Request(1.0, "update", template, **{"rests": True, **more})


def _refactor(template: dict[str, Any], moves: Mapping[str, str]) -> Request:
    return Request(1.0, "refactor", template, rests=True, moves=moves)


_DELETE = Request(1.0, "delete", rests=True)


def _walk(action: str, **more: Any) -> Request:
    return Request(1.0, action, rests=True, **more)


def _told(*requests: Request, ends: str, **more: Any) -> Scenario:
    """A story whose operations end so."""
    words = {"ok": "COMPLETE", "bad": "FAILED"}
    pairs = [word.partition(":") for word in ends.split()]
    told = tuple(f"{action.upper()}_{words[status]}" for action, _, status in pairs)
    fails = "FAILED" in str(told)
    settings = {"exact": True, "trouble": 0.0, "reads": False, "fails": fails, **more}
    return Scenario(requests, ends=told, **settings)


def _group(value: str, **sizes: Any) -> dict[str, Any]:
    member = {"type": "Sim::Thing", "properties": {"value": value, "slow": 2}}
    return {
        "type": "OS::Heat::AutoScalingGroup",
        "properties": {"min_size": 1, "max_size": 4, "resource": member, **sizes},
    }


def _batched(value: str) -> dict[str, Any]:
    """A group whose members change one after another."""
    member = {"type": "Sim::Thing", "properties": {"value": value, "slow": 1}}
    return {
        "type": "OS::Heat::ResourceGroup",
        "properties": {"count": 3, "resource_def": member},
        "update_policy": {"rolling_update": {"max_batch_size": 1, "pause_time": 7}},
    }


_UNCHANGED = {
    "type": "OS::Heat::ResourceGroup",
    "properties": {"count": 2, "resource_def": _thing(value="x")},
}


def _member_of(name: str) -> dict[str, list[str]]:
    return {"get_attr": [name, "resource.1"]}


_POLICY = {
    "type": "Sim::Policy",
    "properties": {
        "adjustment_type": "change_in_capacity",
        "scaling_adjustment": 1,
        "auto_scaling_group_id": _uses("group"),
    },
}
_TIE = {"type": "Sim::Tie", "properties": {"name": "tie"}}


_KNOT = {"type": "Sim::Knot", "properties": {"name": "knot", "content": "by hand"}}


def _knot(content: str) -> dict[str, Any]:
    return {"type": "Sim::Knot", "properties": {"name": "knot", "content": content}}


def _named_by(name: str, kind: str, **properties: Any) -> dict[str, Any]:
    """A tie whose name is an attribute of another resource, which no request knows in advance."""
    return {"type": f"Sim::{kind}", "properties": {"name": _value_of(name), **properties}}


_TIED = _template(tie=_TIE, knot=_KNOT)
_RENAMED = _template(band=_TIE, loop=_KNOT)
_MOVED = _template(
    nest={
        "type": "OS::Heat::ResourceGroup",
        "properties": {"count": 1, "resource_def": _TIE},
    },
    knots={
        "type": "OS::Heat::ResourceGroup",
        "properties": {"count": 1, "resource_def": _KNOT},
    },
)


def _deployment(value: str, other: Any) -> dict[str, Any]:
    """Return a config that the server applies with each value, and again before it is deleted."""
    properties = {
        "server": "server",
        "actions": ["CREATE", "UPDATE", "DELETE"],
        "input_values": {"value": value, "other": other},
    }
    return {"type": "Sim::Deployment", "properties": properties}


# A call is refused at first, and another finds no identity service.
_BADLY = _template(
    a=_thing(value="x", fail="away"),
    b=_thing(uses=_uses("a"), fail="once"),
    c=_thing(uses=_uses("a"), value="z", slow=3),
)
_GATE = {"type": "Sim::Gate", "properties": {"count": 2}}
_BASE = _template(
    a=_thing(value="x", slow=1),
    b=_thing(uses=_uses("a"), value="y"),
    c=_thing(value=_value_of("a"), depends_on="b"),
    d=_thing(value="z", slow=4),
)
_NEXT = _template(
    a=_thing(value="other", slow=1),
    b=_thing(uses=_uses("a"), value="y2"),
    c=_thing(value=_value_of("a"), depends_on="b"),
    d=_thing(value="z", slow=4),
)
_REPLACED = _template(
    a=_thing(value="x", slow=1, fixed="new"),
    b=_thing(uses=_uses("a"), value="y"),
    c=_thing(value=_value_of("a"), depends_on="b"),
    e=_thing(uses=_uses("a")),
)
_BROKEN = _template(
    a=_thing(value="new", slow=1, fixed="new"),
    b=_thing(uses=_uses("a"), value="changed"),
    c=_thing(value=_value_of("a"), depends_on="b"),
    e=_thing(uses=_uses("b"), fail="create", depends_on="c"),
)


def _with(template: dict[str, Any], **resources: Any) -> dict[str, Any]:
    return {**template, "resources": {**template["resources"], **resources}}


_KEPT = _thing(value="f", depends_on="g")  # unchanged when its dependency is replaced


def _nest(value: Any, **more: Any) -> dict[str, Any]:
    return {"type": CHILD, "properties": {"value": value}, **more}


def _with_hooks(request: Request, *names: str) -> Request:
    marks = {name: {"hooks": list(HOOKS)} for name in names}
    return replace(request, environment={"resource_registry": {"resources": marks}})


_NESTED = _template(a=_thing(value="x"), nest=_nest(_value_of("a")), b=_thing(value="z"))
_NESTED_NEXT = _template(a=_thing(value="y"), nest=_nest(_value_of("a")), b=_thing(value="z"))
_BROKEN_NESTED = _template(
    a=_thing(value="y"),
    nest=_nest(_value_of("a")),
    c=_thing(fail="create", depends_on="nest"),
)
_SLOW = _template(
    a=_thing(value="x", slow=5), b=_thing(uses=_uses("a"), slow=5), c=_thing(uses=_uses("b"))
)
_LAGGING = _template(
    a=_thing(value="x", lag=8), b=_thing(value="y", lag=8, uses=_uses("a")), c=_thing(lag=5)
)


def _disk(**properties: Any) -> dict[str, Any]:
    return {"type": "Sim::Disk", "properties": properties}


_DISKS = _template(
    a=_disk(value="x", slow=1),
    b=_disk(value="y", uses=_uses("a")),
    c=_thing(value=_value_of("a"), depends_on="b"),
    group={
        "type": "OS::Heat::ResourceGroup",
        "properties": {"count": 2, "resource_def": _disk(value="m")},
    },
)

_IN_GROUP = _template(
    c=_thing(uses={"get_attr": ["group", "resource.0"]}),
    group={
        "type": "OS::Heat::ResourceGroup",
        "properties": {"count": 1, "resource_def": _thing(value="x")},
    },
)


def _machine(**properties: Any) -> dict[str, Any]:
    """An object whose value is known seconds before it is ready."""
    return {"type": "Sim::Machine", "properties": {"slow": 3, **properties}}


_EXPRESS = _template(
    a=_machine(value="x"),
    b=_machine(value=_value_of("a")),
    c=_machine(value=_value_of("b"), slow=1),
    d=_thing(uses=_uses("a"), value=_value_of("c")),
    nest=_nest("y"),
)
_EXPRESS_NEXT = _template(
    a=_machine(value="x", fixed="new"),
    b=_machine(value=_value_of("a")),
    c=_machine(value=_value_of("e"), fixed="new"),
    d=_thing(uses=_uses("a"), value=_value_of("c")),
    e=_machine(value="z"),
    nest=_nest("y"),
)

# By name.
STORIES: Mapping[str, Scenario] = {
    "create": _told(_create(_BASE), ends="create:ok"),
    "update": _told(_create(_BASE), _update(_NEXT), ends="create:ok update:ok"),
    "replace": _told(
        _create(_with(_BASE, f=_KEPT, g=_thing(fixed="old"))),
        _update(_with(_REPLACED, f=_KEPT, g=_thing(fixed="new"))),
        _DELETE,
        ends="create:ok update:ok delete:ok",
    ),
    "rollback": _told(
        _create(_BASE),
        _update(_BROKEN, rollback=True),
        ends="create:ok update:bad rollback:ok",
    ),
    "rollback-to-nothing": _told(_create(_BROKEN, rollback=True), ends="create:bad rollback:ok"),
    "notified": _told(
        _create(_BASE),
        _update(_BROKEN, rollback=True),
        ends="create:ok update:bad rollback:ok",
        notified=True,
    ),
    "asked-again": _told(
        _create(_BASE, token="a"),
        _update(_NEXT, token="b"),
        replace(_DELETE, token="c"),
        ends="create:ok update:ok delete:ok",
    ),
    "failure-deletes": _told(_create(_BROKEN, deletes=True), ends="create:bad delete:ok"),
    "change-set": _told(
        _create(_BASE),
        replace(_update(_NEXT), action="show", token="d"),
        _walk("execute"),
        ends="create:ok update:ok",
    ),
    "exports": _told(
        _create(_BASE, exports={"first": "a", "second": "b"}),
        _update(_NEXT, exports={"first": "a", "third": "d"}),
        _update(_BROKEN, exports={"fourth": "a"}, rollback=True),
        _update(_BASE, exports={"first": "b", "third": "c"}),
        _DELETE,
        ends="create:ok update:ok update:bad rollback:ok update:ok delete:ok",
    ),
    "failure": _told(
        _create(_BASE), _update(_BROKEN), _update(_NEXT), ends="create:ok update:bad update:ok"
    ),
    "delete": _told(_create(_BASE), _DELETE, ends="create:ok delete:ok"),
    "nested": _told(
        _create(_NESTED), _update(_NESTED_NEXT), _DELETE, ends="create:ok update:ok delete:ok"
    ),
    "nested-unchanged": _told(
        _create(_template(same=_UNCHANGED, nest=_nest("x"))),
        _update(_template(same=_UNCHANGED, nest=_nest("y"), user=_thing(uses=_member_of("same")))),
        _update(_template(same=_UNCHANGED, nest=_nest("y"))),
        ends="create:ok update:ok update:ok",
    ),
    "nested-delete": _told(
        _create(_template(nest=_nest("x"))), _DELETE, ends="create:ok delete:ok"
    ),
    "nested-rollback": _told(
        _create(_NESTED),
        _update(_BROKEN_NESTED, rollback=True),
        ends="create:ok update:bad rollback:ok",
    ),
    "batches": _told(
        _create(_template(group=_batched("old"))),
        _update(_template(group=_batched("new"))),
        ends="create:ok update:ok",
    ),
    "scaling": _told(
        _create(_template(group=_group("x"), policy=_POLICY)),
        ends="create:ok",
        scales=(8.0, 30.0, 31.0),
        exact=False,
    ),
    "restart": Scenario(
        (
            _create(_template(**RESTARTED, other=_thing(value="o"))),
            _update(_template(**RESTARTED, other=_thing(value="p"))),
        ),
        restarts=(20.0,),
        trouble=0.0,
        reads=False,
    ),
    "restarts-meet-update": Scenario(
        (
            _create(_template(**RESTARTED)),
            Request(20.0, "update", _template(**RESTARTED, other=_thing(value="o", slow=5))),
        ),
        restarts=(4.0, 4.1, 19.0, 22.0),
        trouble=0.0,
        reads=False,
    ),
    "alarm": _told(
        _create(_template(group=_group("x"), policy=_POLICY, alarm=alarm("policy"))),
        ends="create:ok",
        measures=(
            *((4.0 + 8 * n, 90.0) for n in range(4)),
            *((36.0 + 16 * n, 10.0) for n in range(10)),
        ),
        alarm="NORMAL",
        exact=False,
    ),
    "alarm-restarts": Scenario(
        (_create(_template(**RESTARTED, alarm=alarm("restarter"))),),
        measures=tuple((4.0 + 16 * n, 90.0) for n in range(10)),
        alarm="ALARM",
        trouble=0.0,
        reads=False,
    ),
    "bad-starts": Scenario(
        (
            _create(_BADLY),
            _update(_BADLY),
        ),
        trouble=0.0,
        reads=False,
        fails=True,
    ),
    "deployments": _told(
        _create(_template(a=_thing(value="x"), d=_deployment("one", _value_of("a")))),
        _update(_template(a=_thing(value="x"), d=_deployment("two", _value_of("a")))),
        _DELETE,
        ends="create:ok update:ok delete:ok",
        deploys=True,
    ),
    "signals": _told(
        _create(_template(a=_thing(value="x"))),
        _update(_template(a=_thing(value="y"), gate=_GATE, b=_thing(depends_on="gate"))),
        ends="create:ok update:ok",
        signals=(2.0, 6.0),
    ),
    "hooks": _told(
        _with_hooks(_create(_template(a=_thing(value="x"), b=_thing(uses=_uses("a")))), "a"),
        _with_hooks(_update(_template(a=_thing(value="y"), b=_thing(uses=_uses("a")))), "a"),
        ends="create:ok update:ok",
        hooks=True,
    ),
    "moves": _told(
        _create(_template(a=_thing(value="x"), c=_thing(uses=_uses("a")))),
        _update(_template(b=_moved("a", value="x"), c=_thing(uses=_uses("b")))),
        _update(_template(a=_moved("b", value="y"), c=_thing(uses=_uses("a")))),
        _DELETE,
        ends="create:ok update:ok update:ok delete:ok",
    ),
    "moves-back": _told(
        _create(_template(a=_thing(value="x"), c=_thing(uses=_uses("a")))),
        _update(
            _template(
                b=_moved("a", value="y"),
                c=_thing(uses=_uses("b")),
                d=_thing(depends_on="b", fail="create"),
            ),
            rollback=True,
        ),
        _DELETE,
        ends="create:ok update:bad rollback:ok delete:ok",
    ),
    "refactors": _told(
        _create(_template(a=_thing(value="x"), c=_thing(uses=_uses("a")))),
        _refactor(_IN_GROUP, {"/a": "/group/0"}),
        _update(_with(_IN_GROUP, d=_thing(value="d"))),
        _refactor(
            _template(a=_thing(value="x"), c=_thing(uses=_uses("a")), d=_thing(value="d")),
            {"/group/0": "/a"},
        ),
        _DELETE,
        ends="create:ok update:ok update:ok update:ok delete:ok",
    ),
    "imports": _told(
        _create(_template(a=_thing(value="x"))),
        _update(
            _template(
                a=_thing(value="x", uses=_uses("b")),
                b=_imported("object-b", value="x"),
                c=_thing(uses=_uses("b")),
            ),
            cloud="place object-b",
        ),
        _update(_template(a=_thing(value="x"), b=_imported("object-b", value="y"))),
        _DELETE,
        ends="create:ok update:ok update:ok delete:ok",
    ),
    "imports-back": _told(
        _create(_template(a=_thing(value="x"))),
        _update(
            _template(
                a=_thing(value="y", uses=_uses("b")),
                b=_imported("object-b", value="x"),
                d=_thing(depends_on="b", fail="create"),
            ),
            rollback=True,
            cloud="place object-b",
        ),
        _DELETE,
        ends="create:ok update:bad rollback:ok delete:ok",
        released=frozenset({"object-b"}),
    ),
    "imports-failed": _told(
        _create(
            _template(b=_imported("object-b", value="x"), d=_thing(depends_on="b", fail="create")),
            rollback=True,
            cloud="place object-b",
        ),
        ends="create:bad rollback:ok",
        released=frozenset({"object-b"}),
    ),
    "releases": _told(
        _create(_template(a=_thing(value="x"), b=_thing(value="x"), c=_thing(uses=_uses("b")))),
        _update(_template(a=_thing(value="x")), releases=("b",)),
        _DELETE,
        ends="create:ok update:ok delete:ok",
        released=frozenset({"b"}),
    ),
    "express": _told(
        _create(_EXPRESS, express=True),
        _update(_EXPRESS_NEXT, express=True),
        Request(1.0, "delete", rests=True, express=True),
        ends="create:ok update:ok delete:ok",
    ),
    "express-fails": _told(
        _create(_template(a=_machine(value="x"))),
        _update(
            _template(
                a=_machine(value="x"),
                b=_machine(value="y", fail="settle", slow=60),
                c=_machine(value=_value_of("b")),
                d=_thing(value=_value_of("c"), depends_on="b"),
            ),
            express=True,
            rollback=True,
        ),
        ends="create:ok update:bad rollback:ok",
    ),
    "express-cancel": Scenario(
        (
            _create(_EXPRESS, express=True),
            Request(2.0, "cancel_without_rollback"),
            _update(_EXPRESS_NEXT, express=True),
        ),
        trouble=0.0,
        reads=False,
        fails=True,
    ),
    "express-meets-update": Scenario(
        (
            _create(_EXPRESS, express=True),
            Request(2.0, "update", _EXPRESS_NEXT, express=True),
            Request(4.0, "update", _EXPRESS),
        ),
        trouble=0.0,
        reads=False,
    ),
    "supersession": Scenario(
        (
            _create(_SLOW),
            Request(2.0, "update", _template(a=_thing(value="x2", slow=5), d=_thing(value="d"))),
            Request(3.0, "update", _template(a=_thing(value="x3"), e=_thing(uses=_uses("a")))),
        ),
        trouble=0.0,
        reads=False,
    ),
    "cancel": Scenario(
        (
            _create(_with(_NESTED, d=_thing(value="d", slow=3), e=_thing(uses=_uses("d")))),
            _update(
                _with(
                    _NESTED_NEXT,
                    d=_thing(value="d", slow=20, fixed="new"),
                    e=_thing(uses=_uses("d")),
                )
            ),
            Request(7.4, "cancel_without_rollback"),
            Request(16.0, "update", _NESTED_NEXT),
        ),
        trouble=0.0,
        reads=False,
        fails=True,
    ),
    "cancel-create": Scenario(
        (_create(_SLOW), Request(3.0, "cancel_without_rollback"), _update(_SLOW)),
        trouble=0.0,
        reads=False,
        fails=True,
    ),
    "handover": _told(
        _create(_with(_NESTED, g=_batched("x"), r={"type": "OS::Heat::RandomString"})),
        Request(1.0, "abandon", rests=True),
        Request(1.0, "adopt", rests=True),
        _update(_NESTED_NEXT),
        _DELETE,
        ends="adopt:ok update:ok delete:ok",
    ),
    "delete-meets-create": Scenario(
        (_create(_LAGGING), Request(4.0, "delete")), trouble=0.0, reads=False
    ),
    "update-meets-update": Scenario(
        (
            _create(_template(a=_thing(value="x"), b=_thing(value=_value_of("a"), lag=6))),
            _update(_template(a=_thing(value="y"), b=_thing(value=_value_of("a"), lag=6))),
            Request(12.0, "update", _template(a=_thing(value="z"), b=_thing(value="free", lag=6))),
        ),
        trouble=0.0,
        reads=False,
    ),
    "signals-meet-update": Scenario(
        (
            _create(_template(a=_thing(value="x", lag=8), gate=_GATE)),
            Request(2.0, "update", _template(a=_thing(value="y"), gate=_GATE)),
        ),
        signals=(1.5, 2.5),
        trouble=0.0,
        reads=False,
    ),
    "suspend": _told(
        _create(_BASE),
        _walk("suspend"),
        _walk("resume"),
        _update(_NEXT),
        ends="create:ok suspend:ok resume:ok update:ok",
    ),
    "suspend-nested": _told(
        _create(_with(_NESTED, group=_batched("x"))),
        _walk("suspend"),
        _walk("resume"),
        _walk("suspend"),
        _DELETE,
        ends="create:ok suspend:ok resume:ok suspend:ok delete:ok",
    ),
    "suspend-fails": _told(
        _create(_with(_BASE, e=_thing(fail="suspend", depends_on="b"))),
        _walk("suspend"),
        _DELETE,
        ends="create:ok suspend:bad delete:ok",
    ),
    "suspend-meets-delete": Scenario(
        (
            _create(_LAGGING),
            Request(1.0, "suspend", rests=True),
            Request(26.0, "delete"),
        ),
        trouble=0.0,
        reads=False,
        fails=True,
    ),
    "suspend-meets-scaling": Scenario(
        (
            _create(_template(group=_group("x"), policy=_POLICY)),
            Request(8.4, "suspend"),  # refused if the create lasts, hence again
            _walk("suspend"),
            _walk("resume"),
        ),
        scales=(8.0, 8.3, 9.0),
        trouble=0.0,
        reads=False,
        fails=True,
    ),
    "check": _told(
        _create(_with(_NESTED, group=_batched("x"))),
        _walk("check"),
        _walk("check", cloud="vanish one"),
        _update(_with(_NESTED, group=_batched("x"))),
        _walk("check"),
        ends="create:ok check:ok check:bad update:ok check:ok",
    ),
    "check-meets-update": Scenario(
        (
            _create(_BASE),
            Request(1.0, "check", rests=True, cloud="down"),
            Request(8.0, "update", _NEXT),
        ),
        trouble=0.0,
        reads=False,
    ),
    "snapshot": _told(
        _create(_DISKS),
        _walk("snapshot", cloud="fill precious"),
        _update(_template(a=_disk(value="changed"), d=_thing(value="new")), cloud="fill spoilt"),
        _walk("restore"),
        _walk("drop"),
        ends="create:ok snapshot:ok update:ok restore:ok",
        contents={"a": "precious", "b": "precious", "0": "precious", "1": "precious"},
    ),
    "snapshot-delete": _told(
        _create(_DISKS),
        _walk("snapshot"),
        _walk("snapshot"),
        _DELETE,
        ends="create:ok snapshot:ok snapshot:ok delete:ok",
    ),
    "snapshot-fails": _told(
        _create(_template(a=_disk(value="x", slow=1), b=_disk(value="y", uses=_uses("a")))),
        _walk("snapshot", cloud="vanish b"),
        _walk("drop"),
        _walk("snapshot"),
        ends="create:ok snapshot:bad snapshot:bad",
    ),
    "snapshot-meets-update": Scenario(
        (
            _create(_DISKS),
            Request(1.0, "snapshot", rests=True),
            Request(10.0, "update", _template(a=_disk(value="changed"))),
            Request(1.0, "drop", rests=True),
        ),
        trouble=0.0,
        reads=False,
        fails=True,
    ),
    "restore-meets-delete": Scenario(
        (
            _create(_DISKS),
            Request(1.0, "snapshot", rests=True),
            Request(1.0, "restore", rests=True),
            Request(15.0, "delete"),
        ),
        trouble=0.0,
        reads=False,
        fails=True,
    ),
    "quota": _told(
        _create(_BASE, cloud="full"),
        _update(_BASE, cloud="free"),
        ends="create:bad update:ok",
        exact=False,
    ),
    "locked": _told(
        _create(_BASE),
        replace(_DELETE, cloud="locked a"),
        replace(_DELETE, cloud="free"),
        ends="create:ok delete:bad delete:ok",
    ),
    "vanished": _told(
        _create(_BASE), replace(_DELETE, cloud="vanish b"), ends="create:ok delete:ok"
    ),
    "converge": _told(
        _create(_with(_NESTED, tie=_TIE)),
        _update(_with(_NESTED, tie=_TIE), cloud="vanish a", converge=True),
        _update(_with(_NESTED, tie=_TIE), cloud="tamper one", converge=True),
        _update(_with(_NESTED, tie=_TIE), cloud="vanish tie", converge=True),
        # what was sent twice has met the cloud twice
        _update(_with(_NESTED, tie=_TIE), converge=True),
        ends="create:ok update:ok update:ok update:ok update:ok",
        exact=False,
    ),
    "taken": _told(
        _create(
            _template(
                a=_thing(value="knot"), tie=_TIE, knot=_named_by("a", "Knot", content="by hand")
            ),
            cloud="by-hand knot",
        ),
        _DELETE,
        ends="create:bad delete:ok",
        exact=False,
    ),
    "taken-rollback": _told(
        _create(_template(a=_thing(value="tie"))),
        _update(
            _template(a=_thing(value="tie"), tie=_named_by("a", "Tie")),
            cloud="by-hand tie",
            rollback=True,
        ),
        _update(_template(a=_thing(value="tie"), tie=_named_by("a", "Knot")), rollback=True),
        ends="create:ok update:bad rollback:ok update:bad rollback:ok",
    ),
    "renamed": _told(
        _create(_TIED),
        _update(_RENAMED),
        _update(_with(_TIED, a=_thing(fail="create")), rollback=True),
        _update(_TIED),
        _DELETE,
        ends="create:ok update:ok update:bad rollback:ok update:ok delete:ok",
        exact=False,
    ),
    "retied": _told(
        _create(_template(knot=_knot("one"))),
        _update(_template(knot=_knot("two"))),
        _update(
            _template(knot=_knot("three"), a=_thing(fail="create", depends_on="knot")),
            rollback=True,
        ),
        _update(_template(knot=_knot("three"))),
        _DELETE,
        ends="create:ok update:ok update:bad rollback:ok update:ok delete:ok",
        exact=False,
    ),
    "moved": _told(
        _create(_TIED),
        _update(_MOVED),
        _update(_with(_TIED, a=_thing(fail="create", depends_on="knot")), rollback=True),
        _update(_TIED),
        ends="create:ok update:ok update:bad rollback:ok update:ok",
        exact=False,
    ),
    "cloud-down": _told(_create(_BASE), _update(_NEXT, cloud="down"), ends="create:ok update:ok"),
    "timeout": _told(
        _create(_template(a=_thing(value="x"), b=_thing(value="y"))),
        _update(
            _template(a=_thing(value="z"), b=_thing(value="y"), c=_thing(slow=300)),
            rollback=True,
            timeout_mins=2,
        ),
        ends="create:ok update:bad rollback:ok",
    ),
    "timeout-in-a-call": _told(
        _create(
            # An object that was created before its engine died is found immediately: a death saves
            # a call.
            _template(
                a=_thing(lag=40),
                b=_thing(lag=40, uses=_uses("a")),
                c=_thing(lag=40, uses=_uses("b")),
                d=_thing(lag=40, uses=_uses("c")),
            ),
            rollback=True,
            timeout_mins=1,
        ),
        ends="create:bad rollback:ok",
        exact=False,
    ),
}
