"""Signals that servers write to the object store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import pytest

from stoker.kernel.errors import RequestError
from stoker.kernel.values import replace
from stoker.resources.heat.swift_signal import SwiftSignal
from stoker.resources.heat.swift_signal_handle import SwiftSignalHandle
from stoker.resources.heat.wait_condition import HeatWaitCondition
from stoker.resources.heat.wait_condition_handle import HeatWaitConditionHandle
from stoker.schema.resource_type import Call, Done, Failed, Outcome, Wait
from tests.resource_types_heat.calls import after, make_call, signal

from .playing import Cloud

TRANSPORT = {"signal_transport": "TEMP_URL_SIGNAL"}


class Signalled:
    """A handle, and the resource that waits for it."""

    def __init__(
        self, count: int = 1, *, keeps_versions: bool = True, is_condition: bool = False
    ) -> None:
        self.cloud = Cloud(keeps_versions=keeps_versions)
        self.handle = HeatWaitConditionHandle() if is_condition else SwiftSignalHandle()
        self.type = HeatWaitCondition() if is_condition else SwiftSignal()
        call = make_call(self.handle, TRANSPORT if is_condition else {}, cloud=self.cloud)
        made = self.handle.create(call)
        self.handle_call = after(call, made)
        self.made = self.handle.create(self.handle_call)
        self.url = str(self.handle.reference(self.handle_call))
        given = {"handle": self.url, "timeout": 60, "count": count}
        self.call: Call = make_call(self.type, given, cloud=self.cloud)

    def send(self, body: str = "", encoding: str = "utf-8") -> None:
        path = urlsplit(self.url).path.removeprefix("/v1/AUTH_p")
        self.cloud.write(path, body.encode(encoding))

    def look(self, at: float = 100.0) -> Outcome:
        self.call = replace(self.call, now=at)
        outcome = self.type.create(self.call)
        self.call = after(self.call, outcome)
        assert not self.call.progress  # which is not encrypted
        return outcome

    def sent_one_by_one(self, bodies: Sequence[str]) -> Done:
        """The end after the last of them; before each it waits, and looks again soon."""
        for body in bodies:
            waiting = self.look()
            assert isinstance(waiting, Wait)
            assert waiting.after <= 1
            self.send(body)
        done = self.look()
        assert isinstance(done, Done)
        return done


def test_the_address_is_shown_in_several_forms() -> None:
    made = Signalled().made
    assert isinstance(made, Done)
    assert made.attributes is not None
    assert made.attributes["curl_cli"] == f"curl -i -X PUT '{made.attributes['endpoint']}'"
    assert made.attributes["token"] == ""
    assert made.attributes["endpoint"].startswith("http://swift/v1/AUTH_p/s-id/stack-r-")


@pytest.mark.parametrize(
    ("bodies", "data"),
    [
        ([""], '{"1": null}'),
        (['{"data": "x"}'], '{"1": "x"}'),
        (["text"], '{"1": "text"}'),
        (["[1]"], '{"1": [1]}'),
        (["", '{"id": "b", "data": 5}'], '{"1": null, "b": 5}'),
    ],
)
def test_as_many_signals_as_are_wanted_complete_it(bodies: list[str], data: str) -> None:
    done = Signalled(len(bodies)).sent_one_by_one(bodies)
    assert done.attributes == {"data": data}


def test_concurrent_signals_count_in_versioned_store() -> None:
    signalled = Signalled(3)
    for _ in range(3):
        signalled.send()
    assert isinstance(signalled.look(), Done)


def test_store_without_versions_shows_last_signal() -> None:
    signalled = Signalled(2, keeps_versions=False)
    signalled.send('{"id": "a"}')
    assert isinstance(signalled.look(), Wait)
    assert isinstance(signalled.look(), Wait)
    signalled.send('{"id": "b"}')
    assert isinstance(signalled.look(), Done)


@pytest.mark.parametrize(("body", "most"), [("", 1000), ("x" * 1024 * 1024, 4)])
def test_signals_count_up_to_a_bound(body: str, most: int) -> None:
    signalled = Signalled(most + 1, is_condition=True)
    for _ in range(most + 5):
        signalled.send(body)
    for _ in range(2):
        waiting = signalled.look()
        assert isinstance(waiting, Wait)
        assert waiting.reason == f"{most} of {most + 1} received"


def test_two_signals_with_one_id_count_once() -> None:
    signalled = Signalled(2)
    for _ in range(2):
        signalled.send('{"id": "a"}')
    assert isinstance(signalled.look(), Wait)


def test_a_signal_of_failure_fails_it() -> None:
    signalled = Signalled()
    signalled.send('{"status": "FAILURE", "reason": "no disk"}')
    failed = signalled.look()
    assert isinstance(failed, Failed)
    assert (failed.reason, failed.kind) == ("no disk", "SwiftSignalFailure")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_signal_is_read_in_any_json_encoding(encoding: str) -> None:
    signalled = Signalled()
    signalled.send('{"status": "FAILURE", "reason": "schön"}', encoding)
    failed = signalled.look()
    assert isinstance(failed, Failed)
    assert failed.reason == "schön"


def test_too_few_signals_in_time_fail_it() -> None:
    failed = Signalled(2).look(161.0)
    assert isinstance(failed, Failed)
    assert failed.kind == "SwiftSignalTimeout"
    assert failed.reason.startswith("0 of 2 received")


@pytest.mark.parametrize(
    "handle",
    ["x", "", "http://[", "http://swift/v1/AUTH_p/other/o", "http://swift/v1/AUTH_p"],
)
def test_a_handle_is_one_of_this_stack(handle: str) -> None:
    given: dict[str, Any] = {"handle": handle, "timeout": 60}
    with pytest.raises(RequestError, match="not a valid SwiftSignalHandle"):
        SwiftSignal().create(make_call(SwiftSignal(), given, cloud=Cloud()))


@pytest.mark.parametrize("is_condition", [False, True])
def test_nothing_is_left_of_a_handle(is_condition: bool) -> None:
    signalled = Signalled(3, is_condition=is_condition)
    for _ in range(3):
        signalled.send()
    assert isinstance(signalled.handle.delete(signalled.handle_call), Done)
    assert signalled.cloud.objects == {}


def test_temporary_url_condition_reads_object_store_signals() -> None:
    signalled = Signalled(2, is_condition=True)
    assert signalled.type.service_for(signalled.call.properties) == "object-store"
    done = signalled.sent_one_by_one(("", '{"id": "b", "data": 5}'))
    assert done.attributes == {"data": '{"1": null, "b": 5}'}
    assert signalled.type.read(signalled.call) == done.attributes


def test_update_that_needs_more_counts_earlier_signals() -> None:
    signalled = Signalled(2, keeps_versions=False, is_condition=True)
    for body in ('{"id": "a"}', '{"id": "b"}'):
        signalled.send(body)
        signalled.look()
    signalled.call = replace(signalled.call, properties={**signalled.call.properties, "count": 3})
    signalled.send('{"id": "c"}')
    done = signalled.type.update(signalled.call)
    assert isinstance(done, Done)
    assert done.attributes == {"data": '{"a": null, "b": null, "c": null}'}


def test_api_signal_counts_beside_object_store_signals() -> None:
    signalled = Signalled(2, is_condition=True)
    signalled.send()
    details = signalled.handle.check_signal(signalled.handle_call, {"data": "told"})
    told = {signalled.url: [signal(1, dict(details))]}
    signalled.call = replace(signalled.call, signals=told)
    done = signalled.look()
    assert isinstance(done, Done)
    assert done.attributes == {"data": '{"1": "told", "2": null}'}


def test_what_a_condition_waits_for_is_counted() -> None:
    signalled = Signalled(2, is_condition=True)
    signalled.send()
    signalled.look()
    assert signalled.type.counted_signals(signalled.call) == (1, 2)


def test_condition_failures_have_names_of_wait_conditions() -> None:
    signalled = Signalled(is_condition=True)
    late = signalled.look(161.0)
    assert isinstance(late, Failed)
    assert late.kind == "WaitConditionTimeout"
    signalled.send('{"status": "FAILURE", "reason": "no disk"}')
    failed = signalled.look()
    assert isinstance(failed, Failed)
    assert (failed.reason, failed.kind) == ("no disk", "WaitConditionFailure")


def test_handle_with_temporary_url_returns_json() -> None:
    signalled = Signalled(is_condition=True)
    assert isinstance(signalled.made, Done)
    shown = {"token": None, "endpoint": None, "curl_cli": None}
    assert signalled.made.attributes == {
        **shown,
        "signal": json.dumps({"alarm_url": signalled.url}),
    }
    assert signalled.handle.read(signalled.handle_call) == signalled.made.attributes
    assert signalled.url.startswith(
        "http://swift/v1/AUTH_p/s-id/stack-r-abcdefghijkl?temp_url_sig="
    )


def test_a_temporary_address_is_one_of_this_stack() -> None:
    given: dict[str, Any] = {"handle": "http://s/v1/a/other/o?temp_url_sig=1", "timeout": 60}
    with pytest.raises(RequestError, match="not a valid WaitConditionHandle of this stack"):
        HeatWaitCondition().create(make_call(HeatWaitCondition(), given, cloud=Cloud()))


@pytest.mark.parametrize("handle", ["user-id", "", "http://[", "http://cfn/v1/x?Signature=1"])
def test_other_handles_need_no_object_store(handle: str) -> None:
    call = make_call(HeatWaitCondition(), {"handle": handle, "timeout": 60})
    assert HeatWaitCondition().service_for(call.properties) is None
    assert HeatWaitCondition().read(call) == {"data": "{}"}
