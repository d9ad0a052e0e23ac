"""A machine that is short of descriptors, threads or memory for a while fails no operation."""

from __future__ import annotations

import asyncio
import errno
import os
import ssl
import threading
from collections.abc import Callable, Collection

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response

from stoker.api.interface import interface
from stoker.clouds.faults import CloudError
from stoker.concurrency import fair_threads
from stoker.concurrency.fair_threads import FairThreads
from stoker.engine.model.requests import StackRequest
from stoker.kernel.diagnostics import type_of
from stoker.kernel.errors import MachineError, RequestError, lack_of, machine_errors
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.wire import REQUEST_TIMEOUT as LANDING
from tests.simulation.world import CALLER, START, no_descriptor

WANTED = template({f"t{n}": thing(f"t{n - 1}" if n else None, value=str(n)) for n in range(4)})


def no_thread() -> Exception:
    return RuntimeError("can't start new thread")


def no_module() -> Exception:
    return ImportError(f"/lib/x.so: cannot open shared object file: {os.strerror(errno.EMFILE)}")


def no_connection() -> Exception:
    """A library reports the cause as an error of its own."""
    try:
        try:
            raise no_descriptor()
        except OSError as cause:
            raise ssl.SSLError("certificates not loaded") from cause
    except ssl.SSLError as error:
        return error


SHORTAGES = [no_descriptor, no_thread, MemoryError, no_module, no_connection]


async def lived_through(
    lab: Lab, shortage: Callable[[], Exception], calls: Collection[int]
) -> None:
    """Create and delete the stack; each of these calls to the cloud meets the shortage."""
    lab.world.shortage, lab.world.lacks = shortage, calls
    await lab.engine.operations.create(CALLER, StackRequest(name="stack", template=WANTED))
    await lab.engine.dispatch.idle()
    assert await lab.status() == "CREATE_COMPLETE"
    assert sorted(o.properties["value"] for o in lab.cloud.objects.values()) == list("0123")
    assert len(lab.cloud.made) == 4
    assert not [told for told in await lab.history() if told.endswith("FAILED")]
    await lab.delete()
    assert lab.cloud.objects == {}
    assert lab.cloud.violations == []


@pytest.mark.parametrize("shortage", SHORTAGES)
def test_shortage_fails_no_resource(shortage: Callable[[], Exception]) -> None:
    in_lab(lambda lab: lived_through(lab, shortage, range(0, 60, 3)))


@pytest.mark.parametrize("first", [0, 3, 8])
def test_shortage_of_minutes_ends_no_operation(first: int) -> None:
    in_lab(lambda lab: lived_through(lab, no_descriptor, range(first, first + 50)))


def test_create_without_a_descriptor_is_sent_again_soon() -> None:
    """No request is in flight that the next driver would have to wait for."""

    async def story(lab: Lab) -> None:
        lab.world.lacks = {0}
        await lab.create(template({"t": thing()}))
        assert lab.world.time() < START + LANDING / 2
        assert len(lab.cloud.made) == 1

    in_lab(story)


def test_operation_times_out_during_a_shortage() -> None:
    async def story(lab: Lab) -> None:
        lab.world.lacks = range(10**6)
        request = StackRequest(name="stack", template=WANTED, timeout_mins=5)
        await lab.engine.operations.create(CALLER, request)
        await lab.engine.dispatch.idle()
        assert await lab.status() == "CREATE_FAILED"
        assert "timed out" in (await lab.stack()).reason

    in_lab(story)


def test_refusal_of_a_cloud_is_no_shortage() -> None:
    for error in (
        CloudError(500, "the service has too many open files"),
        RequestError("no thread"),
        OSError(errno.ENOENT, os.strerror(errno.ENOENT)),
        RuntimeError("nothing known"),
    ):
        assert lack_of(error) is None


def test_shortage_names_cause_and_limit_to_raise() -> None:
    for shortage, words in ((no_descriptor, "LimitNOFILE"), (no_thread, "TasksMax")):
        with pytest.raises(MachineError, match=words), machine_errors():
            raise shortage()


def test_call_without_a_thread_does_not_run_later() -> None:
    """An executor that cannot start a thread keeps the call in its queue."""

    async def story(lab: Lab) -> None:
        lab.world.queues_calls = True
        await lived_through(lab, no_thread, range(0, 60, 3))

    in_lab(story)


@pytest.mark.parametrize("shortage", SHORTAGES)
async def test_request_during_a_shortage_is_answered_503(shortage: Callable[[], Exception]) -> None:
    async def refuse(request: Request, request_id: str) -> Response:
        raise shortage()

    def told(error: Exception) -> Response:
        kind = type_of(error)
        return Response(str(error), 500 if kind is None else kind.status)

    transport = httpx.ASGITransport(interface(refuse, told))
    async with httpx.AsyncClient(transport=transport, base_url="http://stoker") as client:
        answer = await client.get("/")
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0


async def test_work_waits_until_a_thread_can_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads = FairThreads()
    monkeypatch.setattr(fair_threads, "RETRY_SECONDS", 0.01)
    start, failures = threading.Thread.start, iter(range(20))

    def fail_at_first(thread: threading.Thread) -> None:
        if next(failures, None) is not None:
            raise no_thread()
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", fail_at_first)
    # more projects than there may be threads
    works = [asyncio.ensure_future(threads.run(lambda n=n: n)) for n in range(20)]
    assert await asyncio.wait_for(asyncio.gather(*works), 30) == [*range(20)]
    assert next(failures, None) is None
    threads.close()
