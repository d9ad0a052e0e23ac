"""The size of a scaling group, and which of its members come and go."""

from __future__ import annotations

from typing import Any

import pytest
from tests.resource_types_heat.calls import RecordedSignalling, after, findings, make_call

from stoker.kernel.values import replace
from stoker.resources.aws.scaling_policy import AWSScalingPolicy
from stoker.resources.heat.autoscaling_group import AutoScalingResourceGroup
from stoker.resources.heat.scaling_policy import AutoScalingPolicy
from stoker.resources.shared.groups.capacity import adjusted
from stoker.schema.resource_type import Adjustment, Done, Nested, NestingCall, NoChangeError


def group(**more: Any) -> dict[str, Any]:
    """Properties of a group, as the framework completes them."""
    rolling = {"min_in_service": 0, "max_batch_size": 1, "pause_time": 0}
    return {
        "resource": {"type": "T"},
        "min_size": 0,
        "max_size": 10,
        "desired_capacity": None,
        "cooldown": None,
        "rolling_updates": rolling,
        **more,
    }


def first(**properties: Any) -> tuple[NestingCall, Nested]:
    """A new group."""
    made = make_call(AutoScalingResourceGroup(), group(**properties))
    call = NestingCall(made.name, made.resource_id, made.properties, now=made.now)
    return call, AutoScalingResourceGroup().nested(call)


def then(call: NestingCall, nested: Nested, properties: dict[str, Any], **more: Any) -> Nested:
    """The group after an update."""
    latest = replace(
        call,
        data=nested.data or {},
        previous=call.properties,
        properties={**call.properties, **properties},
        members=dict.fromkeys(names(nested)),
        **more,
    )
    return AutoScalingResourceGroup().nested(latest)


def names(nested: Nested) -> list[str]:
    """The members, oldest first."""
    assert nested.data is not None
    return list(nested.data["names"])


def bodies(nested: Nested) -> dict[str, Any]:
    """The members as the generated template defines them."""
    assert not isinstance(nested.template, str)
    found: dict[str, Any] = nested.template["resources"]
    return found


@pytest.mark.parametrize(
    ("properties", "size"),
    [
        ({"min_size": 2}, 2),
        ({"desired_capacity": 3}, 3),
        ({"min_size": 1, "desired_capacity": 0}, 1),
        ({}, 0),
    ],
)
def test_new_group_has_desired_or_minimum_size(properties: dict[str, Any], size: int) -> None:
    assert len(names(first(**properties)[1])) == size


def test_unchanged_group_keeps_members_and_size() -> None:
    call, nested = first(min_size=1, desired_capacity=3)
    scaled = Nested(nested.template, data={**(nested.data or {}), "size": 5})
    grown = then(call, scaled, {})
    assert names(grown)[:3] == names(nested)
    assert len(names(grown)) == 5
    assert names(then(call, grown, {})) == names(grown)


def test_update_restores_desired_size_unless_zero() -> None:
    call, nested = first(desired_capacity=4)
    assert len(names(then(call, nested, {"desired_capacity": 2}))) == 2
    assert len(names(then(call, nested, {"desired_capacity": 0}))) == 4
    assert len(names(then(call, nested, {"desired_capacity": None, "max_size": 3}))) == 3


def test_failed_members_go_first_and_then_the_oldest() -> None:
    call, nested = first(desired_capacity=4)
    oldest, second, third, youngest = names(nested)
    smaller = then(call, nested, {"desired_capacity": 2}, failed_members=frozenset({third}))
    assert names(smaller) == [second, youngest]
    assert oldest not in bodies(smaller)


def test_names_of_removed_members_are_not_reused() -> None:
    call, nested = first(desired_capacity=3)
    smaller = then(call, nested, {"desired_capacity": 1})
    larger = then(
        replace(call, properties=group(desired_capacity=1)), smaller, {"desired_capacity": 3}
    )
    assert names(larger)[0] == names(nested)[2]
    assert len(names(larger)) == 3
    assert not set(names(larger)[1:]) & set(names(nested))


def test_members_change_in_batches_when_their_definition_does() -> None:
    batches = {"min_in_service": 1, "max_batch_size": 2, "pause_time": 5}
    call, nested = first(desired_capacity=3, rolling_updates=batches)
    assert not nested.batches
    changed = then(call, nested, {"resource": {"type": "U"}})
    one, two, three = names(nested)
    assert changed.batches == [[one, two], [three]]
    assert changed.pause == 5


@pytest.mark.parametrize(
    ("size", "min_in_service", "max_batch_size", "kept"),
    [
        (10, 8, 4, 8),
        (10, 20, 1, 9),
        (10, 0, 20, 10),
        (10, 1, 3, 10),
        (4, 4, 1, 3),
        (3, 9, 9, 0),
    ],
)
def test_rolling_update_creates_members_for_those_in_service(
    size: int, min_in_service: int, max_batch_size: int, kept: int
) -> None:
    rolling = {"min_in_service": min_in_service, "max_batch_size": max_batch_size, "pause_time": 0}
    call, nested = first(desired_capacity=size, rolling_updates=rolling)
    changed = then(call, nested, {"resource": {"type": "U"}})
    assert len(names(changed)) == size
    assert names(changed)[:kept] == names(nested)[size - kept :]
    assert not set(names(changed)[kept:]) & set(names(nested))
    order = [name for batch in changed.batches for name in batch]
    assert order == [*names(changed)[kept:], *names(changed)[:kept]]
    assert all(len(batch) <= max_batch_size for batch in changed.batches)


def test_failed_members_do_not_count_as_in_service() -> None:
    rolling = {"min_in_service": 2, "max_batch_size": 1, "pause_time": 0}
    call, nested = first(desired_capacity=4, rolling_updates=rolling)
    failed = frozenset(names(nested)[1:3])
    changed = then(call, nested, {"resource": {"type": "U"}}, failed_members=failed)
    kept = set(names(changed)) & set(names(nested))
    assert len(kept) == 3
    assert len(kept & failed) == 1


def test_resized_group_keeps_its_members() -> None:
    rolling = {"min_in_service": 4, "max_batch_size": 1, "pause_time": 0}
    call, nested = first(desired_capacity=4, rolling_updates=rolling)
    assert names(then(call, nested, {"desired_capacity": 5}))[:4] == names(nested)


@pytest.mark.parametrize(
    ("properties", "place"),
    [
        ({"min_size": 3, "max_size": 2}, "min_size"),
        ({"min_size": 1, "max_size": 2, "desired_capacity": 3}, "desired_capacity"),
        ({"min_size": 2, "max_size": 4, "desired_capacity": 1}, "desired_capacity"),
    ],
)
def test_sizes_that_contradict_each_other_are_refused(
    properties: dict[str, Any], place: str
) -> None:
    [found] = AutoScalingResourceGroup().validate(properties)
    assert found.path == (place,)


@pytest.mark.parametrize(
    ("kind", "amount", "least", "size", "new"),
    [
        ("change_in_capacity", 2, 0, 3, 5),
        ("change_in_capacity", -2, 0, 3, 1),
        ("exact_capacity", 7, 0, 3, 7),
        ("percent_change_in_capacity", 50, 0, 5, 7),
        ("percent_change_in_capacity", -50, 0, 5, 3),
        ("percent_change_in_capacity", 10, 0, 3, 4),
        ("percent_change_in_capacity", -10, 0, 3, 2),
        ("percent_change_in_capacity", 10, 2, 3, 5),
        ("percent_change_in_capacity", -10, 2, 3, 1),
        ("percent_change_in_capacity", 0, 2, 3, 3),
        ("percent_change_in_capacity", 100, 0, 0, 0),
    ],
)
def test_adjustments_round_towards_current_size(
    kind: str, amount: float, least: int, size: int, new: int
) -> None:
    assert adjusted(size, Adjustment("p", "g", kind, amount, least)) == new


def test_cooldown_of_policy_does_not_affect_another() -> None:
    call, nested = first(desired_capacity=1)
    call = replace(call, data=nested.data or {}, now=100.0)
    rests = Adjustment("p", "g", "change_in_capacity", 1, cooldown=60)
    call = replace(call, data=AutoScalingResourceGroup().settled(call, rests), now=150.0)
    with pytest.raises(NoChangeError, match="10 s more"):
        AutoScalingResourceGroup().resized(call, rests)
    assert AutoScalingResourceGroup().resized(call, replace(rests, policy="q")).data["size"] == 2


def test_a_smallest_step_goes_with_percentages_only() -> None:
    properties = {"adjustment_type": "exact_capacity", "min_adjustment_step": 1}
    [found] = AutoScalingPolicy().validate(properties)
    assert found.path == ("min_adjustment_step",)
    assert not AutoScalingPolicy().validate(
        {"adjustment_type": "percent_change_in_capacity", "min_adjustment_step": 1}
    )


def test_policy_has_signed_url_and_user() -> None:
    type_, signalling = AutoScalingPolicy(), RecordedSignalling()
    properties = {
        "auto_scaling_group_id": "g",
        "adjustment_type": "exact_capacity",
        "scaling_adjustment": 1,
    }
    call = make_call(type_, properties, signalling=signalling)
    done = type_.create(call)
    assert isinstance(done, Done)
    assert done.attributes == {
        "alarm_url": "http://cfn/v1/signal/r?AWSAccessKeyId=access-user-r",
        "signal_url": f"http://stoker/v1/{call.stack.project_id}/signal/r",
    }
    again = after(call, done)
    assert type_.create(again) == done
    assert type_.read(again) == done.attributes
    type_.delete(again)
    assert signalling.deleted == [call.resource_id]


CFN_POLICY = {
    "AutoScalingGroupName": "g",
    "AdjustmentType": "PercentChangeInCapacity",
    "ScalingAdjustment": 50,
    "MinAdjustmentStep": 2,
    "Cooldown": 60,
}


def test_cloudformation_policy_refers_to_its_signed_url() -> None:
    type_, signalling = AWSScalingPolicy(), RecordedSignalling()
    call = make_call(type_, CFN_POLICY, signalling=signalling)
    assert type_.reference(call) == "r"
    done = type_.create(call)
    assert isinstance(done, Done)
    again = after(call, done)
    address = "http://cfn/v1/signal/r?AWSAccessKeyId=access-user-r"
    assert type_.reference(again) == address
    assert type_.read(again) == done.attributes == {"AlarmUrl": address}
    type_.delete(again)
    assert signalling.deleted == [call.resource_id]


def test_cloudformation_policy_maps_to_same_adjustment() -> None:
    call = make_call(AWSScalingPolicy(), CFN_POLICY)
    assert AWSScalingPolicy().adjustment(call) == Adjustment(
        "r", "g", "percent_change_in_capacity", 50, 2, 60
    )
    [found] = findings(AWSScalingPolicy(), {**CFN_POLICY, "AdjustmentType": "ExactCapacity"})
    assert found.path == ("MinAdjustmentStep",)
    assert "PercentChangeInCapacity" in found.message
    assert findings(AWSScalingPolicy(), CFN_POLICY) == []
