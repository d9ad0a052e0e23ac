"""An engine that keeps stacks in a dictionary and records its requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stoker.api.ports import EngineView
from stoker.engine.model.requests import (
    Caller,
    EventQuery,
    ResourceQuery,
    StackQuery,
    StackRequest,
)
from stoker.engine.model.stack_records.change_sets import Protection
from stoker.engine.model.views import (
    Cause,
    CauseKind,
    ChangeView,
    CreatePlanView,
    DriftView,
    EventView,
    Explanation,
    PlanView,
    PlanWarning,
    PropertyChange,
    ResourceView,
    SnapshotView,
    StackView,
    TemplateSummary,
)
from stoker.kernel.addresses import StackAddress, parse_arn
from stoker.kernel.diagnostics import Diagnostic, Position
from stoker.kernel.errors import (
    INVALID,
    RESOURCE_NOT_FOUND,
    AlreadyExistsError,
    NotFoundError,
    ValidationError,
)
from stoker.kernel.values import replace
from stoker.resources.base.registry import Registry
from stoker.schema.helpers import ComputationError
from stoker.schema.quotas import Quota
from stoker.template.definition import Output
from stoker.template.describe.catalogue import Catalogue
from tests.evaluating import HELPERS

PROJECT = "a" * 32
CREATED = 1_790_000_000.0
QUOTAS = (Quota("compute", "instances", 2, 9, 10),)
CREATED_TEXT = "2026-09-21T14:13:20Z"


def stack_id(number: int) -> str:
    return f"00000000-0000-0000-0000-{number:012}"


@dataclass
class FakeService:
    """Implements the engine's interface for tests of the API."""

    known: dict[str, StackView] = field(default_factory=dict)
    asked: list[tuple[str, Any]] = field(default_factory=list)
    signalled: list[tuple[str, Mapping[str, Any] | None]] = field(default_factory=list)
    refusal: Exception | None = None
    change: str = "updated"
    drifts: Sequence[DriftView] = ()
    event_streams: Any = None
    given: dict[str, Any] = field(default_factory=dict)  # parameters of each stack

    @property
    def operations(self) -> FakeService:
        return self

    @property
    def previews(self) -> FakePreviews:
        return FakePreviews(self)

    @property
    def reports(self) -> FakeService:
        return self

    @property
    def explanations(self) -> FakeExplanations:
        return FakeExplanations(self)

    @property
    def descriptions(self) -> FakeService:
        return self

    @property
    def views(self) -> FakeService:
        return self

    @property
    def signals(self) -> FakeService:
        return self

    @property
    def exports(self) -> FakeService:
        return self

    async def export(self, caller: Caller, stack: StackAddress) -> Mapping[str, Any]:
        self._ask("export", stack)
        return {"name": self._view(stack).address.name, "resources": {}}

    async def abandon(self, caller: Caller, stack: StackAddress) -> Mapping[str, Any]:
        document = await self.export(caller, stack)
        del self.known[stack.id]
        return document

    @property
    def drift(self) -> FakeService:
        return self

    async def report(self, caller: Caller, stack: StackAddress) -> Sequence[DriftView]:
        self._ask("drift", stack)
        return self.drifts

    @property
    def snapshots(self) -> FakeSnapshots:
        return FakeSnapshots(self)

    def add(self, name: str, **fields: Any) -> StackView:
        address = StackAddress(PROJECT, name, stack_id(len(self.known) + 1))
        view = StackView(
            address,
            "CREATE",
            "COMPLETE",
            "Stack CREATE completed successfully",
            CREATED,
            owner="demo",
            **{
                "parameters": {"OS::stack_id": address.id},
                "outputs": (Output("o", "v", "an output"),),
                **fields,
            },
        )
        self.known[address.id] = view
        return view

    def _view(self, address: StackAddress) -> StackView:
        view = self.known.get(address.id)
        if view is None or view.address != address:
            raise NotFoundError(f'There is no stack "{address.name}".')
        return view

    def _ask(self, what: str, detail: Any = None) -> None:
        self.asked.append((what, detail))
        if self.refusal is not None:
            raise self.refusal

    async def find(self, caller: Caller, name_or_id: str) -> StackAddress:
        self._ask("find", name_or_id)
        arn = parse_arn(name_or_id)
        for view in self.known.values():
            if arn == view.address or name_or_id in (view.address.name, view.address.id):
                return view.address
        raise NotFoundError(f'There is no stack "{name_or_id}".')

    async def create(self, caller: Caller, request: StackRequest) -> StackAddress:
        self._ask("create", request)
        if any(v.address.name == request.name for v in self.known.values()):
            raise AlreadyExistsError(f'There is a stack "{request.name}" already.')
        return self.add(request.name or "", tags=request.tags or ()).address

    async def adopt(self, caller: Caller, request: StackRequest, document: str) -> StackAddress:
        self._ask("adopt", (request, document))
        return self.add(request.name or "").address

    async def update(self, caller: Caller, stack: StackAddress, request: StackRequest) -> None:
        self._view(stack)
        self._ask("update", request)

    async def unavailable(self, caller: Caller, names: Sequence[str]) -> Mapping[str, str]:
        return {}

    async def beginning_with(self, pattern: str, names: Sequence[str]) -> Sequence[str]:
        try:
            found, _ = HELPERS.fit(f"(?:{pattern}).*", names, 0.5)
        except ComputationError:
            return []
        return [name for name, fits in zip(names, found, strict=True) if fits]

    async def delete(
        self,
        caller: Caller,
        stack: StackAddress,
        plan_fingerprint: str | None = None,
        *,
        express: bool = False,
    ) -> None:
        self._view(stack)
        self._ask("delete", "express" if express else plan_fingerprint)
        del self.known[stack.id]

    async def act(self, caller: Caller, stack: StackAddress, action: str) -> None:
        self._view(stack)
        self._ask("act", action)

    async def validate(
        self, caller: Caller, request: StackRequest, *, show_nested: bool = False
    ) -> tuple[Mapping[str, Any], Sequence[Diagnostic]]:
        self._ask("validate", request)
        return {"Description": "d", "Parameters": {}}, ()

    @property
    def cloudformation(self) -> FakeService:
        return self

    @property
    def client_tokens(self) -> FakeService:
        return self

    async def answered(self, caller: Caller) -> StackAddress | None:
        return None

    @property
    def rollbacks(self) -> FakeRollbacks:
        return FakeRollbacks(self)

    @property
    def detections(self) -> FakeService:
        return self

    async def latest(self, caller: Caller, stack: StackAddress) -> None:
        """Return None: no detection has run yet."""

    @property
    def protections(self) -> FakeProtections:
        return FakeProtections(self)

    async def stack_with(self, caller: Caller, physical_id: str) -> StackAddress:
        return next(iter(self.known.values())).address

    async def summary(self, caller: Caller, request: StackRequest) -> TemplateSummary:
        self._ask("summary", request)
        return TemplateSummary({"Description": "d", "Parameters": {}}, "2010-09-09", ("A::B::C",))

    async def stack(
        self, caller: Caller, stack: StackAddress, *, resolve_outputs: bool = True
    ) -> StackView:
        self._ask("stack", caller)
        view = self._view(stack)
        return view if resolve_outputs else replace(view, outputs=None)

    async def stacks(self, caller: Caller, query: StackQuery) -> Sequence[StackView]:
        self._ask("stacks", query)
        found = list(self.known.values())
        return found[: query.page.limit] if query.page.limit is not None else found

    async def count_stacks(self, caller: Caller, query: StackQuery) -> int:
        return len(self.known)

    async def template(
        self, caller: Caller, stack: StackAddress
    ) -> tuple[Mapping[str, Any], str | None]:
        self._view(stack)
        return {"heat_template_version": "2021-04-16"}, None

    async def environment(self, caller: Caller, stack: StackAddress) -> Mapping[str, Any]:
        self._view(stack)
        return {"parameters": self.given}

    async def files(self, caller: Caller, stack: StackAddress) -> Mapping[str, str]:
        self._view(stack)
        return {"a.yaml": "x"}

    async def output(self, caller: Caller, stack: StackAddress, key: str) -> Output:
        for output in self._view(stack).outputs or ():
            if output.name == key:
                return output
        raise NotFoundError(f'There is no output "{key}".')

    async def outputs(self, caller: Caller, stack: StackAddress) -> Sequence[tuple[str, str]]:
        return [(o.name, o.description) for o in self._view(stack).outputs or ()]

    async def resources(
        self, caller: Caller, stack: StackAddress, query: ResourceQuery
    ) -> Sequence[ResourceView]:
        self._view(stack)
        self._ask("resources", query)
        return [_resource(stack, "a")]

    async def resource(
        self,
        caller: Caller,
        stack: StackAddress,
        name: str,
        *,
        with_attributes: Sequence[str] = (),
        with_unstarted: bool = False,
    ) -> ResourceView:
        self._view(stack)
        self._ask("resource", tuple(with_attributes))
        if name != "a":
            raise NotFoundError(f'There is no resource "{name}".', RESOURCE_NOT_FOUND)
        found = _resource(stack, name)
        return replace(found, attributes={"output": 1}, metadata={"Init": ["<&>"]})

    async def metadata(self, caller: Caller, stack: StackAddress, name: str) -> Mapping[str, Any]:
        self._view(stack)
        return {"m": 1}

    async def mark_unhealthy(
        self, caller: Caller, stack: StackAddress, name: str, *, unhealthy: bool, reason: str
    ) -> None:
        self._view(stack)
        self._ask("mark_unhealthy", (name, unhealthy, reason))

    async def signal(
        self,
        caller: Caller,
        stack: StackAddress,
        name: str,
        details: Mapping[str, Any] | None,
        *,
        must_fit: bool = False,
    ) -> None:
        self._view(stack)
        if details == {"refuse": True} or (must_fit and details == {"does not": "fit"}):
            raise ValidationError("The signal is refused.")
        self._ask("signal", caller)
        self.signalled.append((name, details))

    async def creation_signal(
        self, caller: Caller, stack: StackAddress, name: str, unique_id: str, *, success: bool
    ) -> None:
        self._view(stack)
        self.signalled.append((name, {"id": unique_id, "success": success}))

    async def events(
        self, caller: Caller, stack: StackAddress, query: EventQuery
    ) -> Sequence[EventView]:
        self._view(stack)
        self._ask("events", query)
        events = [_event(stack, "a", "1"), _event(stack, stack.name, "2")]
        return [e for e in events if query.resource_name in (None, e.resource_name)]

    async def event(
        self, caller: Caller, stack: StackAddress, name: str, event_id: str
    ) -> EventView:
        self._view(stack)
        if (name, event_id) != ("a", "1"):
            raise NotFoundError("There is no such event.")
        return _event(stack, name, event_id)


class FakeCatalogue(Catalogue):
    """A few types and versions."""

    def __init__(self) -> None:
        super().__init__(Registry({}))

    def resource_types(
        self, *, support_status: str | None, version: str | None
    ) -> Sequence[tuple[str, str]]:
        if support_status not in (None, "SUPPORTED"):
            raise ValidationError("There is no such support status.", INVALID)
        return [("OS::Heat::None", "nothing"), ("OS::Heat::Value", "a value")]

    def resource_type(self, name: str, *, with_description: bool) -> Mapping[str, Any]:
        if name not in ("OS::Heat::None", "OS::Keystone::User"):
            raise NotFoundError(f'There is no resource type "{name}".')
        return {"resource_type": name, "properties": {}}

    def resource_type_template(self, name: str, dialect: str) -> Mapping[str, Any]:
        return {"dialect": dialect, "name": name}

    def template_versions(self) -> Sequence[Mapping[str, Any]]:
        return [{"version": "heat_template_version.2021-04-16", "type": "hot", "aliases": []}]

    def template_functions(
        self, version: str, *, with_conditions: bool
    ) -> Sequence[Mapping[str, Any]]:
        if version != "heat_template_version.2021-04-16":
            raise NotFoundError(f'There is no template version "{version}".')
        return [{"functions": "not" if with_conditions else "get_param", "description": "d"}]


async def no_engines() -> Sequence[EngineView]:
    return ()


async def one_engine() -> Sequence[EngineView]:
    return (EngineView("1", "2", "host", CREATED, CREATED, up=True),)


def _resource(stack: StackAddress, name: str) -> ResourceView:
    return ResourceView(
        stack,
        name,
        "id-" + name,
        None,
        "OS::Heat::None",
        "CREATE",
        "COMPLETE",
        "state changed",
        CREATED,
        CREATED,
    )


def _event(stack: StackAddress, name: str, event_id: str) -> EventView:
    return EventView(
        event_id,
        stack,
        CREATED,
        "CREATE",
        "COMPLETE",
        "state changed",
        name,
        "OS::Heat::None",
        stack.id if name == stack.name else "physical",
        {"value": "x"},
    )


class FakePreviews:
    """Return the answer of the fake service to previews."""

    def __init__(self, service: FakeService) -> None:
        self._service = service

    async def create(
        self,
        caller: Caller,
        request: StackRequest,
        *,
        fingerprint: bool = False,
        quotas: bool = False,
    ) -> CreatePlanView:
        self._service._ask("preview_create", request)
        stack = StackAddress(PROJECT, request.name or "", "None")
        nested = StackAddress(PROJECT, f"{request.name}-g", "None")
        view = StackView(stack, "CREATE", "COMPLETE", "", CREATED, outputs=())
        group = replace(_resource(stack, "g"), nested=nested)
        member = replace(_resource(nested, "0"), parent_resource="g")
        made = "the plan" if fingerprint else None
        resources = [_resource(stack, "a"), group, member]
        return CreatePlanView(view, resources, made, QUOTAS if quotas else ())

    async def update(
        self,
        caller: Caller,
        stack: StackAddress,
        request: StackRequest,
        *,
        show_nested: bool = False,
        unhealthy: frozenset[str] = frozenset(),
        fingerprint: bool = False,
        quotas: bool = False,
        warnings: bool = False,
    ) -> PlanView:
        self._service._view(stack)
        self._service._ask("preview_update", request)
        plan = self._plan(stack, fingerprint, warnings)
        return replace(plan, quotas=QUOTAS if quotas else ())

    async def delete(
        self,
        caller: Caller,
        stack: StackAddress,
        *,
        fingerprint: bool = False,
        warnings: bool = False,
    ) -> PlanView:
        self._service._view(stack)
        self._service._ask("preview_delete")
        return self._plan(stack, fingerprint, warnings)

    def _plan(self, stack: StackAddress, fingerprint: bool, warnings: bool) -> PlanView:
        change = ChangeView(
            replace(_resource(stack, "a"), physical_id="p"),
            self._service.change,
            "property",
            ("x",),
            (PropertyChange("x", 1, 2),),
            path=("a",),
            step=1,
        )
        found = (PlanWarning(("a",), "it is used"),) if warnings else ()
        return PlanView((change,), "the plan" if fingerprint else None, warnings=found)


class FakeRollbacks:
    """Continue or roll back failed changes, as the fake service does."""

    def __init__(self, service: FakeService) -> None:
        self._service = service

    async def begin(self, caller: Caller, stack: StackAddress) -> None:
        self._service._ask("begin rollback", stack)

    async def resume(self, caller: Caller, stack: StackAddress) -> None:
        self._service._ask("resume rollback", stack)


class FakeProtections:
    """The protections of the fake service: nothing is protected."""

    def __init__(self, service: FakeService) -> None:
        self._service = service

    async def show(self, caller: Caller, stack: StackAddress) -> Protection:
        return Protection(self._service._view(stack).address.id)


class FakeSnapshots:
    """The snapshots of the fake service."""

    def __init__(self, service: FakeService) -> None:
        self._service = service

    async def create(self, caller: Caller, address: StackAddress, name: str | None) -> SnapshotView:
        self._service._view(address)
        self._service._ask("snapshot", name)
        return SnapshotView("s1", name, "IN_PROGRESS", None, CREATED, {"resources": {}})

    async def list(self, caller: Caller, address: StackAddress) -> Sequence[SnapshotView]:
        self._service._view(address)
        return [await self.show(caller, address, "s1")]

    async def show(self, caller: Caller, address: StackAddress, snapshot_id: str) -> SnapshotView:
        self._service._ask("show_snapshot", snapshot_id)
        return SnapshotView(snapshot_id, "n", "COMPLETE", "done", CREATED, {"resources": {}})

    async def delete(self, caller: Caller, address: StackAddress, snapshot_id: str) -> None:
        self._service._ask("delete_snapshot", snapshot_id)

    async def restore(self, caller: Caller, address: StackAddress, snapshot_id: str) -> None:
        self._service._ask("restore_snapshot", snapshot_id)


class FakeExplanations:
    """The explanations of the fake service."""

    def __init__(self, service: FakeService) -> None:
        self._service = service

    async def stack(self, caller: Caller, stack: StackAddress) -> Explanation:
        view = self._service._view(stack)
        cause = Cause(
            CauseKind.SIGNAL,
            ("g", "ready"),
            stack,
            "OS::Heat::WaitCondition",
            "CREATE",
            "IN_PROGRESS",
            "1 of 2 signals received",
            CREATED,
            signals=(1, 2),
            position=Position("member.yaml", 4, 3),
        )
        return Explanation(view, CREATED, None, (cause,), is_complete=True)

    async def resource(self, caller: Caller, stack: StackAddress, name: str) -> Explanation:
        self._service._ask("why", name)
        return await self.stack(caller, stack)
