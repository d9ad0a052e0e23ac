"""Calls that go on when whoever has made them is dead: nothing is made twice, nothing is lost."""

from __future__ import annotations

import asyncio

import pytest

from tests.recovery.late_cloud import Life, World

THREE = ("a", "b", "c")


async def create_and_die(life: Life) -> None:
    await life.create(*THREE)
    await asyncio.sleep(1)


async def until_complete(life: Life) -> None:
    assert await life.ended() == "CREATE_COMPLETE"


def made(world: World) -> int:
    """How many objects were made, once everything has landed."""
    world.live(lambda life: asyncio.sleep(300))
    return len(world.cloud.made)


async def fail_the_driver(life: Life) -> str:
    """What drives the stack is cancelled; returns the stack's id."""
    [(stack, driving)] = life.engine.dispatch._tasks.items()
    driving.cancel()
    await asyncio.sleep(0.1)
    return stack


@pytest.mark.parametrize("seconds", [6, 60, 100])
def test_a_create_that_lands_after_a_kill_is_not_made_again(seconds: float) -> None:
    world = World()
    world.cloud.takes = [seconds] * 3
    world.cloud.gives_up = 200
    world.live(create_and_die)
    world.live(until_complete)
    assert world.passed < seconds + 10
    assert made(world) == len(world.cloud.objects) == 3


def test_kills_in_a_row_while_a_create_is_under_way_change_nothing() -> None:
    world = World()
    world.cloud.takes = [30] * 3
    world.live(create_and_die)
    for _ in range(10):
        world.live(lambda life: asyncio.sleep(2))
    world.live(until_complete)
    assert made(world) == 3


def test_a_create_that_is_never_carried_out_is_sent_again_once_it_cannot_be() -> None:
    world = World()
    world.cloud.never = 3
    world.live(create_and_die)

    async def looks(life: Life) -> None:
        await asyncio.sleep(20)
        assert world.cloud.made == []
        assert await life.reasons() == {"looking for what the last request may have made"}
        await until_complete(life)

    world.live(looks)
    assert 120 < world.passed < 130
    assert made(world) == 3


def test_a_create_that_waited_for_its_turn_is_sent_at_once_after_a_kill() -> None:
    world = World(places=1)
    world.cloud.takes = [3]
    world.live(create_and_die)
    world.live(until_complete)
    assert world.passed < 10
    assert made(world) == 3


def test_an_object_that_comes_later_than_any_is_removed_when_the_operation_ends() -> None:
    world = World()
    world.cloud.takes = [125]
    world.cloud.gives_up = 1000

    async def one(life: Life) -> None:
        await life.create("a")
        await asyncio.sleep(1)

    async def again(life: Life) -> None:
        await asyncio.sleep(100)
        # the second create is slow: it is under way when the first one lands
        world.cloud.takes = [40]
        await until_complete(life)

    world.live(one)
    world.live(again)
    assert made(world) == 2
    assert len(world.cloud.objects) == 1


def test_a_stack_that_is_deleted_takes_along_what_lands_late() -> None:
    world = World()
    world.cloud.takes = [50] * 3
    world.live(create_and_die)

    async def delete(life: Life) -> None:
        await life.delete()
        assert await life.ended() == "gone"

    world.live(delete)
    assert made(world) == 3
    assert world.cloud.objects == {}


def test_an_operation_that_times_out_leaves_nothing_that_a_delete_does_not_find() -> None:
    world = World()
    world.cloud.takes = [100] * 3
    world.cloud.gives_up = 200

    async def story(life: Life) -> None:
        await life.create(*THREE, timeout_mins=1)
        assert await life.ended() == "CREATE_FAILED"
        assert world.cloud.made == []
        await life.delete()
        assert await life.ended() == "gone"

    world.live(story)
    assert made(world) == 3
    assert world.cloud.objects == {}


def test_an_answer_that_does_not_come_in_time_may_still_be_one() -> None:
    world = World()
    world.cloud.takes = [90] * 3
    world.live(create_and_die)
    world.live(until_complete)
    assert made(world) == 3

    world = World()
    world.cloud.takes = [90]

    async def one(life: Life) -> None:
        await life.create("a")
        await until_complete(life)

    world.live(one)
    assert made(world) == 1


def test_a_driver_that_fails_and_starts_again_waits_for_its_own_calls() -> None:
    world = World()
    world.cloud.takes = [20] * 3

    async def story(life: Life) -> None:
        await life.create(*THREE)
        await asyncio.sleep(1)
        stack = await fail_the_driver(life)
        life.engine.dispatch.wake(stack)
        await until_complete(life)

    world.live(story)
    assert world.passed < 25
    assert made(world) == 3


def test_what_a_driver_that_failed_has_asked_for_does_not_come_after_what_is_asked_for_next() -> (
    None
):
    world = World()

    async def story(life: Life) -> None:
        await life.create("a")
        await until_complete(life)
        world.cloud.usual = 20
        await life.update("old", "a")
        await asyncio.sleep(1)
        await fail_the_driver(life)
        world.cloud.usual = 0.1
        await life.update("new", "a")
        assert await life.ended() == "UPDATE_COMPLETE"
        await asyncio.sleep(30)

    world.live(story)
    assert [value for _, value in world.cloud.objects.values()] == ["new"]


def test_an_update_that_timed_out_does_not_come_after_the_next_one() -> None:
    world = World()
    world.cloud.gives_up = 1000

    async def story(life: Life) -> None:
        await life.create("a")
        await until_complete(life)
        world.cloud.usual = 100
        await life.update("old", "a", timeout_mins=1)
        assert await life.ended() == "UPDATE_FAILED"
        world.cloud.usual = 0.1
        await life.update("new", "a")
        assert await life.ended() == "UPDATE_COMPLETE"
        await asyncio.sleep(100)

    world.live(story)
    assert [value for _, value in world.cloud.objects.values()] == ["new"]


def test_an_update_does_not_wait_for_one_that_a_failed_driver_is_known_to_have_ended() -> None:
    world = World()

    async def story(life: Life) -> None:
        await life.create("a")
        await until_complete(life)
        world.cloud.usual = 20
        await life.update("old", "a")
        await asyncio.sleep(1)
        stack = await fail_the_driver(life)
        life.engine.dispatch.wake(stack)
        assert await life.ended() == "UPDATE_COMPLETE"
        world.cloud.usual = 0.1
        await life.update("new", "a")
        assert await life.ended() == "UPDATE_COMPLETE"

    world.live(story)
    assert [value for _, value in world.cloud.objects.values()] == ["new"]
    assert world.passed < 50


def test_what_a_failed_driver_did_not_know_its_successor_does_not_know_either() -> None:
    world = World()
    world.cloud.gives_up = 1000

    async def begin(life: Life) -> None:
        await life.create("a")
        await until_complete(life)
        world.cloud.usual = 100
        await life.update("old", "a")
        await asyncio.sleep(1)

    async def change(life: Life) -> None:
        world.cloud.usual = 0.1
        await life.update("new", "a")
        await asyncio.sleep(1)
        stack = await fail_the_driver(life)
        life.engine.dispatch.wake(stack)
        assert await life.ended() == "UPDATE_COMPLETE"
        await asyncio.sleep(100)

    world.live(begin)
    world.live(change)
    assert [value for _, value in world.cloud.objects.values()] == ["new"]


@pytest.mark.parametrize("dies", [False, True])
def test_an_update_without_an_answer_does_not_come_after_the_next_one(dies: bool) -> None:
    world = World()

    async def change(life: Life) -> None:
        await life.create("a")
        await until_complete(life)
        world.cloud.usual = 100
        await life.update("old", "a")
        await asyncio.sleep(50)
        world.cloud.usual = 0.1  # sent again after 60 s, when no answer has come
        assert await life.ended() == "UPDATE_COMPLETE"
        if not dies:
            await change_again(life)

    async def change_again(life: Life) -> None:
        await life.update("new", "a")
        assert await life.ended() == "UPDATE_COMPLETE"
        await asyncio.sleep(100)

    world.live(change)
    if dies:
        world.live(change_again)
    assert [value for _, value in world.cloud.objects.values()] == ["new"]


def test_a_look_that_is_cut_off_does_not_say_that_nothing_will_come() -> None:
    world = World()
    world.cloud.takes, world.cloud.gives_up = [95], 40

    async def story(life: Life) -> None:
        await life.create("a", timeout_mins=1)
        await asyncio.sleep(1)
        world.cloud.usual = 30
        assert await life.ended() == "CREATE_FAILED"
        world.cloud.usual = 0.1
        await life.delete()
        assert await life.ended() == "gone"

    world.live(story)
    assert made(world) == 1
    assert world.cloud.objects == {}


def test_a_create_that_was_refused_after_its_driver_failed_is_sent_again_at_once() -> None:
    world = World()
    world.cloud.takes, world.cloud.refuses = [20], 1

    async def story(life: Life) -> None:
        await life.create("a")
        await asyncio.sleep(1)
        stack = await fail_the_driver(life)
        life.engine.dispatch.wake(stack)
        await until_complete(life)

    world.live(story)
    assert world.passed < 25
    assert made(world) == 1


def test_what_cannot_be_made_twice_is_asked_for_again_at_once() -> None:
    world = World()
    world.cloud.never = 3

    async def create(life: Life) -> None:
        await life.create(*THREE, kind="Late::Only")
        await asyncio.sleep(1)

    world.live(create)
    world.live(until_complete)
    assert world.passed < 5
    assert made(world) == 3


def test_nothing_lands_in_a_cloud_that_was_started_since() -> None:
    world = World()
    world.cloud.never = 3
    world.live(create_and_die)
    world.cloud_since = world.now()
    world.live(until_complete)
    assert world.passed < 5


def test_second_of_two_lost_creates_goes_with_its_stack() -> None:
    """Both land: the first is found again while the second is still under way."""
    world = World()
    world.cloud.takes = [125]
    world.cloud.gives_up = 1000

    async def one(life: Life) -> None:
        await life.create("a")
        await asyncio.sleep(1)

    async def again(life: Life) -> None:
        await asyncio.sleep(119)
        world.cloud.takes = [40]
        await asyncio.sleep(3)

    async def delete(life: Life) -> None:
        await asyncio.sleep(60)
        await life.delete()
        assert await life.ended() == "gone"

    world.live(one)
    world.live(again)
    world.live(until_complete)
    world.live(delete)
    assert made(world) == 2
    assert world.cloud.objects == {}
