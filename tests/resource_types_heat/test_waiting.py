"""Wait conditions, and signals of their handles."""

import json

import pytest

from stoker.kernel.errors import ValidationError
from stoker.kernel.values import replace
from stoker.resources.aws.wait_condition import WaitCondition as AwsWaitCondition
from stoker.resources.aws.wait_condition_handle import WaitConditionHandle as AwsHandle
from stoker.resources.heat.update_wait_condition_handle import UpdateWaitConditionHandle
from stoker.resources.heat.wait_condition import HeatWaitCondition
from stoker.resources.heat.wait_condition_handle import HeatWaitConditionHandle
from stoker.schema.resource_type import Done, Failed, Replaces, Signals, Wait
from tests.resource_types_heat.calls import RecordedSignalling, after, make_call, signal


def stored(*bodies):
    """Return the stored signals for these bodies, in order."""
    type_, kept = HeatWaitConditionHandle(), []
    for number, body in enumerate(bodies):
        call = make_call(type_, {}, physical_id="h", signals={"h": kept})
        kept.append(signal(number, dict(type_.check_signal(call, body))))
    return kept


def outcome(signals, count=1, timeout=30, now=100.0):
    type_ = HeatWaitCondition()
    properties = {"handle": "h", "count": count, "timeout": timeout}
    return type_.create(make_call(type_, properties, signals={"h": signals}, now=now))


def test_condition_waits_for_signal_or_timeout():
    waiting = outcome(stored({"id": "a"}), count=2, timeout=30, now=110.0)
    assert isinstance(waiting, Wait)
    assert (waiting.on_signal, waiting.after) == (True, 20.0)
    assert waiting.reason == "1 of 2 received"


def test_enough_signals_complete_condition_with_their_data():
    done = outcome(stored({"id": "a", "data": "A"}, {"id": "b", "data": {"k": [1]}}), count=2)
    assert isinstance(done, Done)
    assert done.attributes == {"data": '{"a": "A", "b": {"k": [1]}}'}


def test_last_signal_of_an_id_counts_once():
    signals = stored({"id": "a", "data": "A"}, {"id": "a", "data": "A2"})
    assert isinstance(outcome(signals, count=2), Wait)
    assert outcome(signals, count=1).attributes == {"data": '{"a": "A2"}'}


def test_failure_signal_fails_condition_with_its_reason():
    failed = outcome(stored({"status": "FAILURE", "reason": "boom"}, {"id": "2"}), count=1)
    assert isinstance(failed, Failed)
    assert failed.reason == "boom"


def test_timeout_fails_condition_and_reports_progress():
    failed = outcome(stored({"id": "a"}), count=2, timeout=5, now=105.0)
    assert isinstance(failed, Failed)
    assert failed.reason.startswith("1 of 2 received")


def test_timely_signals_count_even_after_timeout():
    assert isinstance(outcome(stored({}), timeout=5, now=200.0), Done)


def test_an_empty_handle_fails_the_condition():
    type_ = HeatWaitCondition()
    call = make_call(type_, {"handle": None, "timeout": 5})
    assert isinstance(type_.create(call), Failed)


def test_late_signals_show_in_the_data():
    type_ = HeatWaitCondition()
    call = make_call(type_, {"handle": "h", "timeout": 5})
    assert type_.read(call) == {"data": "{}"}
    late = replace(call, signals={"h": stored({}, {"data": "é"})})
    assert json.loads(type_.read(late)["data"]) == {"1": None, "2": "é"}


def test_what_a_signal_leaves_out_is_filled_in():
    (first, second) = stored({}, {"reason": 5, "id": 7})
    assert first.details == {
        "id": "1",
        "status": "SUCCESS",
        "reason": "Signal 1 received",
        "data": None,
    }
    assert second.details == {"id": "7", "status": "SUCCESS", "reason": 5, "data": None}


@pytest.mark.parametrize("body", [{"status": "FOO"}, {"status": "SUCCESS", "other": 1}])
def test_signal_with_unknown_key_or_status_is_refused(body):
    with pytest.raises(ValidationError):
        stored(body)


def test_body_without_map_is_a_plain_signal():
    assert stored([1])[0].details["id"] == "1"


def test_signals_of_handle_show_in_its_metadata():
    assert HeatWaitConditionHandle().signal_metadata(stored({"id": "a", "data": "A"})) == {
        "a": {"status": "SUCCESS", "reason": "Signal 1 received", "data": "A"}
    }


def test_handle_with_token_has_url_token_and_command():
    type_ = HeatWaitConditionHandle()
    call = make_call(type_, {}, signalling=RecordedSignalling())
    done = type_.create(call)
    assert done.physical_id == "user-r"
    assert done.attributes["endpoint"] == "http://stoker/v1/stack-project/signal/r"
    assert done.attributes["token"] == "token-1-of-user-r"
    assert done.attributes["curl_cli"] == (
        "curl -i -X POST -H 'X-Auth-Token: token-1-of-user-r' "
        "-H 'Content-Type: application/json' -H 'Accept: application/json' "
        "http://stoker/v1/stack-project/signal/r"
    )
    assert done.attributes["signal"] == "null"
    assert type_.read(after(call, done))["token"] == "token-1-of-user-r"


def test_a_handle_with_credentials_gives_them_as_json():
    type_ = HeatWaitConditionHandle()
    properties = {"signal_transport": "HEAT_SIGNAL"}
    done = type_.create(make_call(type_, properties, signalling=RecordedSignalling()))
    told = json.loads(done.attributes["signal"])
    assert told["user_id"] == "user-r"
    assert told["password"] == "p"
    assert told["region_name"] == "RegionOne"
    assert done.attributes["token"] is None


def test_handle_with_signed_url_returns_same_url():
    type_ = HeatWaitConditionHandle()
    call = make_call(type_, {"signal_transport": "CFN_SIGNAL"}, signalling=RecordedSignalling())
    done = type_.create(call)
    url = json.loads(done.attributes["signal"])["alarm_url"]
    assert url == "http://cfn/v1/signal/r?AWSAccessKeyId=access-user-r"
    assert type_.read(after(call, done))["signal"] == done.attributes["signal"]


def test_a_handle_without_signals_needs_no_user():
    type_ = HeatWaitConditionHandle()
    call = make_call(type_, {"signal_transport": "NO_SIGNAL"})
    done = type_.create(call)
    assert done.physical_id == call.resource_id
    assert isinstance(type_.delete(call), Done)


def test_deleting_a_handle_removes_its_user():
    type_, signalling = HeatWaitConditionHandle(), RecordedSignalling()
    call = make_call(type_, {}, signalling=signalling)
    type_.delete(after(call, type_.create(call)))
    assert signalling.deleted == [call.resource_id]


def test_cloudformation_handle_refers_to_its_signed_url():
    type_ = AwsHandle()
    call = make_call(type_, {}, signalling=RecordedSignalling())
    assert type_.reference(call) == "r"
    done = type_.create(call)
    made = after(call, done)
    url = type_.reference(made)
    assert url == "http://cfn/v1/waitcondition/r?AWSAccessKeyId=access-user-r"
    assert type_.reference(after(made, type_.create(made))) == url


def test_cloudformation_condition_completes_with_signed_url_signals():
    handle, type_ = AwsHandle(), AwsWaitCondition()
    body = {"Status": "SUCCESS", "Reason": "r", "Data": "D", "UniqueId": "1"}
    details = dict(handle.check_signal(make_call(handle, {}), body))
    call = make_call(
        type_,
        {"Handle": "http://u", "Timeout": "30", "Count": "1"},
        signals={"http://u": [signal(1, details)]},
    )
    done = type_.create(call)
    assert isinstance(done, Done)
    assert done.attributes == {"Data": '{"1": "D"}'}


@pytest.mark.parametrize(
    "body",
    [
        {"Status": "SUCCESS"},
        {"Status": "X", "Reason": "r", "Data": "D", "UniqueId": "1"},
        {"Status": "SUCCESS", "Reason": "r", "Data": "D", "UniqueId": "1", "More": 1},
        [1],
    ],
)
def test_a_cloudformation_signal_must_be_complete(body):
    handle = AwsHandle()
    with pytest.raises(ValidationError):
        handle.check_signal(make_call(handle, {}), body)


def test_every_update_replaces_the_update_handle():
    type_ = UpdateWaitConditionHandle()
    assert isinstance(type_, Replaces)
    assert isinstance(type_, Signals)
    assert type_.needs_replacement(make_call(type_, {}))
