"""One list serves all who wait for objects of one kind."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from stoker.clouds.faults import CloudError
from stoker.clouds.objects.bulk_polling import pause_for, poll
from stoker.clouds.objects.collections import NETWORKS, VOLUMES

AGE = 0.5


class Cloud:
    """Volumes behind a connection; records the requests."""

    def __init__(self, count: int) -> None:
        self.volumes = {str(n): {"id": str(n), "status": "creating"} for n in range(count)}
        self.asked: list[str] = []
        self.lists = True
        self.every_service = SimpleNamespace(request=self._request)

    def service(self, _service_type: str) -> SimpleNamespace:
        return self.every_service

    def _request(self, path: str, method: str, **more: Any) -> Any:
        self.asked.append(path)
        body: dict[str, Any] | None
        if path == "/volumes/detail":
            newest = list(self.volumes.values())[: more["params"]["limit"]]
            body = {"volumes": newest} if self.lists else None
        else:
            found = self.volumes.get(path.rpartition("/")[2])
            body = None if found is None else {"volume": dict(found), "network": dict(found)}
        return SimpleNamespace(
            status_code=404 if body is None else 200,
            content=b"{}",
            text="{}",
            headers={},
            json=lambda: body,
        )

    def poll(self, number: int, now: float) -> dict[str, Any] | None:
        return poll(self, VOLUMES, str(number), now, AGE)

    def lists_asked(self) -> int:
        return self.asked.count("/volumes/detail")


def test_many_objects_are_polled_with_one_list() -> None:
    cloud = Cloud(50)
    found = [cloud.poll(number, 10.0) for number in range(50)]
    assert [each and each["id"] for each in found] == list(cloud.volumes)
    assert cloud.lists_asked() == 1
    # the first few, and those that the first list was too short for
    assert len(cloud.asked) < 50
    cloud.asked.clear()
    for number in range(50):
        cloud.poll(number, 11.0)
    assert cloud.asked == ["/volumes/detail"]


def test_few_objects_are_polled_one_by_one() -> None:
    cloud = Cloud(4)
    for now in (10.0, 11.0):
        for number in range(4):
            cloud.poll(number, now)
    assert cloud.lists_asked() == 0


def test_outdated_list_is_not_used() -> None:
    cloud = Cloud(10)
    for number in range(10):
        cloud.poll(number, 10.0)
    cloud.volumes["3"] = {"id": "3", "status": "available"}
    seen = cloud.poll(3, 10.0 + AGE + 0.01)
    assert seen is not None
    assert seen["status"] == "available"


@pytest.mark.parametrize("jump", [-100.0, 100.0])
def test_clock_jump_makes_no_old_list_valid(jump: float) -> None:
    cloud = Cloud(10)
    for number in range(10):
        cloud.poll(number, 1000.0)
    cloud.volumes["3"] = {"id": "3", "status": "available"}
    for number in range(10):
        seen = cloud.poll(number, 1000.0 + jump)
        assert seen == cloud.volumes[str(number)]


def test_what_the_list_lacks_is_asked_for() -> None:
    cloud = Cloud(10)
    for number in range(10):
        cloud.poll(number, 10.0)
    cloud.volumes["new"] = {"id": "new", "status": "creating"}
    assert poll(cloud, VOLUMES, "new", 10.1, AGE) == cloud.volumes["new"]
    del cloud.volumes["5"]
    assert cloud.poll(5, 12.0) is None


def test_refused_list_falls_back_to_single_polls() -> None:
    cloud = Cloud(10)
    cloud.lists = False
    for number in range(10):
        assert cloud.poll(number, 10.0) == cloud.volumes[str(number)]
    assert cloud.lists_asked() == 1


def test_users_share_no_lists() -> None:
    one, other = Cloud(10), Cloud(10)
    for number in range(10):
        one.poll(number, 10.0)
    other.volumes["7"]["status"] = "error"
    for number in range(10):
        assert other.poll(number, 10.1) == other.volumes[str(number)]


def test_kind_without_list_is_polled_one_by_one() -> None:
    cloud = Cloud(10)
    for number in range(10):
        assert poll(cloud, NETWORKS, str(number), 10.0, AGE) is not None
    assert len(cloud.asked) == 10


def test_failure_of_single_poll_is_raised() -> None:
    cloud = Cloud(1)
    cloud.every_service.request = lambda *_, **__: SimpleNamespace(
        status_code=503, content=b"", text="", headers={}
    )
    with pytest.raises(CloudError):
        cloud.poll(0, 10.0)


def test_pause_grows_with_the_number_of_waiting_calls() -> None:
    cloud = Cloud(200)
    pauses = []
    for many in (2, 50, 200):
        for number in range(many):
            cloud.poll(number, 10.0)
        pauses.append(pause_for(cloud, VOLUMES, 10.0))
    assert pauses == sorted(pauses)
    assert 2 * pauses[1] < pauses[2] < 2.0
    for now in (11.0, 12.0):
        cloud.poll(0, now)
    assert pause_for(cloud, VOLUMES, 12.0) < pauses[0]
    assert pause_for(cloud, NETWORKS, 12.0) == 0


def test_poll_needs_no_list_in_progress() -> None:
    cloud = Cloud(10)
    for number in range(10):
        cloud.poll(number, 10.0)
    is_asked, may_answer = Event(), Event()
    answer = cloud.every_service.request

    def request(path: str, method: str, **more: Any) -> Any:
        is_asked.set()
        assert may_answer.wait(30)
        return answer(path, method, **more)

    cloud.every_service.request = request
    cloud.volumes["3"]["status"] = "available"
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(cloud.poll, 3, 10.8)
        assert is_asked.wait(30)
        try:
            assert cloud.poll(4, 10.8) == cloud.volumes["4"]
        finally:
            may_answer.set()
        assert asking.result() == cloud.volumes["3"]
