"""The metrics, and the bound on their labels, whatever users do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prometheus_client.parser import text_string_to_metric_families
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from stoker.engine.model.interfaces import PublicChange, StoreError
from stoker.engine.model.records import Action, Event, Operation, OperationStatus, Status
from stoker.kernel.load import Load
from stoker.observability.counts import OTHER, CountedRequests, Counts, Histogram
from stoker.observability.report import Report, Work
from tests.engine_world import Lab, in_lab, template, thing


class Clock:
    def now(self) -> float:
        return 100.0


class Store:
    """A store that can be asked, or not."""

    fault: Exception | None = None

    async def open_operations(self) -> Mapping[str, tuple[int, float]]:
        if self.fault is not None:
            raise self.fault
        return {"RUNNING": (2, 70.0)}

    async def database_size(self) -> int:
        return 4096


async def work() -> Work:
    return Work(driven=3, due=9, engines_up=2, engines_down=1)


def report(counts: Counts, store: Store | None = None) -> Report:
    return Report(
        counts,
        Clock(),
        store or Store(),
        commits=lambda: (7, 0.5),
        loads=lambda: {"compute": Load(8, 3)},
        pauses=lambda: {"lag": 0.001, "longest_pause": 0.2, "pauses_over_50_ms": 4},
        reencrypting=lambda: True,
        work=work,
        connections={"heat_api": lambda: 5},
    )


async def exposed(counts: Counts) -> dict[tuple[str, tuple[str, ...]], float]:
    """The values of all samples, by name and values of labels in alphabetical order."""
    text = await report(counts).metrics()
    return {
        (sample.name, tuple(sorted(sample.labels.values()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def event(type_name: str, status: Status, resource_id: str | None = "r") -> Event:
    return Event(
        id="e",
        stack_id="s",
        time=0.0,
        action=Action.CREATE,
        status=status,
        reason="",
        resource_name="n",
        resource_type=type_name,
        resource_id=resource_id,
    )


def operation(status: OperationStatus) -> Operation:
    return Operation(id="o", stack_id="s", action=Action.UPDATE, created_at=90.0, status=status)


async def test_ended_operations_and_actions_are_counted() -> None:
    counts = Counts(Clock(), {"OS::Nova::Server"}.__contains__)
    ended = PublicChange(
        "s",
        puts=(
            operation(OperationStatus.COMPLETE),
            operation(OperationStatus.RUNNING),
            event("OS::Nova::Server", Status.COMPLETE),
            event("OS::Nova::Server", Status.IN_PROGRESS),
            event("users-own.yaml", Status.FAILED),
            event("OS::Heat::Stack", Status.COMPLETE, None),
        ),
    )
    counts.committed(ended, certain=True)
    counts.committed(ended, certain=False)
    values = await exposed(counts)
    assert values["stoker_operations_total", ("COMPLETE", "UPDATE")] == 1
    assert values["stoker_operation_seconds_sum", ("UPDATE",)] == 10.0
    assert values["stoker_operation_seconds_bucket", ("5.0", "UPDATE")] == 0
    assert values["stoker_operation_seconds_bucket", ("15.0", "UPDATE")] == 1
    assert values["stoker_resource_actions_total", ("COMPLETE", "CREATE", "OS::Nova::Server")] == 1
    assert values["stoker_resource_actions_total", ("CREATE", "FAILED", OTHER)] == 1
    assert len(counts.resources) == 2
    assert values["stoker_changes_total", ()] == values["stoker_changes_lost_total", ()] == 1


async def test_cloud_calls_are_counted_even_without_answer() -> None:
    counts = Counts(Clock(), ().__contains__)
    counts.called("compute", 202, 0.3, "POST /servers")
    counts.called("compute", 0, 60.0, "GET /servers/*")
    values = await exposed(counts)
    assert values["stoker_cloud_calls_total", ("202", "POST", "compute")] == 1
    assert values["stoker_cloud_calls_total", ("GET", "compute", "none")] == 1
    assert values["stoker_cloud_call_seconds_count", ("compute",)] == 2
    assert values["stoker_cloud_waiting", ("compute",)] == 3


async def test_methods_that_clients_invent_are_one_label() -> None:
    counts = Counts(Clock(), ().__contains__)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await Response(status_code=501)(scope, receive, send)

    async def nothing(*_: Any) -> Any:
        return None

    for number in range(50):
        scope = {"type": "http", "method": f"BREW{number}"}
        await CountedRequests(application, counts, "heat_api")(scope, nothing, nothing)
    values = await exposed(counts)
    assert values["stoker_requests_total", ("501", "heat_api", OTHER)] == 50
    assert len(counts.requests) == 1


async def test_gauges_show_states_at_time_of_request() -> None:
    values = await exposed(Counts(Clock(), ().__contains__))
    assert values["stoker_operations_open", ("RUNNING",)] == 2
    assert values["stoker_oldest_operation_seconds", ("RUNNING",)] == 30.0
    assert values["stoker_database_bytes", ()] == 4096
    assert values["stoker_commits_total", ()] == 7
    assert values["stoker_connections", ("heat_api",)] == 5
    assert values["stoker_event_loop_lag_seconds", ()] == 0.001
    assert values["stoker_reencrypting", ()] == 1
    assert values["stoker_stacks_driven", ()] == 3
    assert values["stoker_stacks_due", ()] == 9
    assert values["stoker_engines", ("up",)] == 2
    assert values["stoker_engines", ("down",)] == 1
    assert values["process_open_fds", ()] > 0


async def test_details_say_that_the_database_does_not_answer() -> None:
    store = Store()
    told = await report(Counts(Clock(), ().__contains__), store).details()
    assert told["operations"] == {"RUNNING": {"count": 2, "oldest_seconds": 30.0}}
    assert told["work"] == {"driven": 3, "due": 9, "engines_up": 2, "engines_down": 1}
    assert "fault" not in told
    store.fault = StoreError("disk I/O error", passing=False)
    told = await report(Counts(Clock(), ().__contains__), store).details()
    assert told["fault"] == "the database does not answer: disk I/O error"
    assert told["connections"] == {"heat_api": 5}


def test_histogram_counts_first_bound_not_exceeded() -> None:
    histogram = Histogram((1.0, 2.0))
    for seconds in (0.5, 1.0, 1.5, 9.0):
        histogram.add(seconds)
    assert (histogram.counts, histogram.sum) == ([2, 1, 1], 12.0)


def test_stack_is_counted_once_per_action() -> None:
    async def story(lab: Lab) -> Counts:
        counts = Counts(lab.engine.ports.clock, {"Sim::Thing"}.__contains__)
        lab.engine.ports.store.observe(counts)
        await lab.create(template({"a": thing(), "b": thing("a")}))
        await lab.delete()
        assert await lab.engine.ports.store.open_operations() == {}
        assert await lab.engine.ports.store.database_size() > 0
        return counts

    counts = in_lab(story)
    assert counts.operations == {("CREATE", "COMPLETE"): 1, ("DELETE", "COMPLETE"): 1}
    assert counts.resources == {
        ("Sim::Thing", "CREATE", "COMPLETE"): 2,
        ("Sim::Thing", "DELETE", "COMPLETE"): 2,
    }
