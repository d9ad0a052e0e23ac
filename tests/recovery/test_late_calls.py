"""Calls that continue after the death of their process: nothing is created twice or lost."""

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
    """Return the number of created objects, once all calls are carried out."""
    world.live(lambda life: asyncio.sleep(300))
    return len(world.cloud.made)


async def fail_the_driver(life: Life) -> str:
    """Create the stack and cancel its driver; return the stack's id."""
    [(stack, driving)] = life.engine.dispatch._tasks.items()
    driving.cancel()
    await asyncio.sleep(0.1)
    return stack


@pytest.mark.parametrize("seconds", [6, 60, 100])
def test_create_that_completes_after_kill_is_not_repeated(seconds: float) -> None:
    world = World()
    world.cloud.takes = [seconds] * 3
    world.cloud.gives_up = 200
    world.live(create_and_die)
    world.live(until_complete)
    assert world.passed < seconds + 10
    assert made(world) == len(world.cloud.objects) == 3


def test_repeated_kills_during_create_change_nothing() -> None:
    world = World()
    world.cloud.takes = [30] * 3
    world.live(create_and_die)
    for _ in range(10):
        world.live(lambda life: asyncio.sleep(2))
    world.live(until_complete)
    assert made(world) == 3


def test_lost_create_is_repeated_after_search_window() -> None:
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


def test_create_queued_at_kill_is_sent_immediately() -> None:
    world = World(places=1)
    world.cloud.takes = [3]
    world.live(create_and_die)
    world.live(until_complete)
    assert world.passed < 10
    assert made(world) == 3


def test_object_later_than_search_window_is_removed() -> None:
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


def test_delete_removes_objects_that_appear_late() -> None:
    world = World()
    world.cloud.takes = [50] * 3
    world.live(create_and_die)

    async def delete(life: Life) -> None:
        await life.delete()
        assert await life.ended() == "gone"

    world.live(delete)
    assert made(world) == 3
    assert world.cloud.objects == {}


def test_delete_finds_all_objects_of_timed_out_operation() -> None:
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


def test_unanswered_create_may_still_succeed() -> None:
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


def test_restarted_driver_waits_for_its_own_calls() -> None:
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


def test_update_waits_for_call_of_failed_driver() -> None:
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


def test_update_waits_for_call_that_timed_out() -> None:
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


def test_update_does_not_wait_for_completed_call() -> None:
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


def test_second_engine_waits_for_calls_of_failed_driver() -> None:
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
def test_update_waits_for_unanswered_update(dies: bool) -> None:
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


def test_interrupted_search_does_not_count_as_result() -> None:
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


def test_refused_create_of_failed_driver_is_repeated_immediately() -> None:
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


def test_create_of_unique_object_is_repeated_immediately() -> None:
    world = World()
    world.cloud.never = 3

    async def create(life: Life) -> None:
        await life.create(*THREE, kind="Late::Only")
        await asyncio.sleep(1)

    world.live(create)
    world.live(until_complete)
    assert world.passed < 5
    assert made(world) == 3


def test_restarted_cloud_needs_no_search_window() -> None:
    world = World()
    world.cloud.never = 3
    world.live(create_and_die)
    world.cloud_since = world.now()
    world.live(until_complete)
    assert world.passed < 5


def test_delete_removes_second_of_two_lost_creates() -> None:
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
