from __future__ import annotations

import socket
import threading
from typing import Any

import pytest
from keystoneauth1 import session
from keystoneauth1.exceptions import http as auth_errors
from keystoneauth1.exceptions.connection import ConnectFailure
from openstack import exceptions as sdk_errors

from stoker.clouds import faults
from stoker.clouds.faults import CloudError, UnreadableAnswerError
from stoker.kernel.logs.masking import Masking


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('{"NeutronError": {"type": "X", "message": "No more IPs", "detail": ""}}', "No more IPs"),
        ('{"itemNotFound": {"code": 404, "message": "No server"}}', "No server"),
        ('{"error": {"code": 401, "message": "Who are you", "title": "No"}}', "Who are you"),
        ('{"errors": [{"status": 406, "detail": "Old version"}]}', "Old version"),
        ('{"faultstring": "Policy", "faultcode": "Client"}', "Policy"),
        (
            '{"code": 400, "title": "Bad Request", "error": {"type": "X", "message": "no p"}}',
            "no p",
        ),
        (
            '{"faultstring": {"cause": "Unknown type", "reason": "", "detail": {"type": "disk"}}}',
            "Unknown type: disk",
        ),
        ('{"title": "Bad Request", "explanation": "It is malformed."}', "It is malformed."),
        ("<html><h1>404 Not Found</h1> No image here</html>", "404 Not Found No image here"),
        ("", ""),
    ],
)
def test_the_words_of_each_service_are_found(body: str, message: str) -> None:
    assert faults.message_in(body) == message


@pytest.mark.parametrize("body", ["{}", '{{"message": "{}"}}'])
def test_secret_in_a_long_explanation_is_masked(body: str) -> None:
    secret = "correct-horse-battery"
    for before in range(1970, 2000):
        fault = CloudError(400, faults.message_in(body.format("x" * before + secret * 3)), "req-1")
        shown = Masking([secret]).text(faults.describe(fault))
        assert shown.endswith("… (HTTP 400, request req-1)")
        assert secret[:6] not in shown


def test_a_description_has_status_and_request_id() -> None:
    fault = CloudError(409, "Quota exceeded", "req-1")
    assert faults.describe(fault) == "Quota exceeded (HTTP 409, request req-1)"


def test_sdk_exceptions_are_classified() -> None:
    absent = auth_errors.NotFound("no such thing")
    assert faults.is_not_found(absent)
    assert faults.describe(absent) == "no such thing (HTTP 404)"
    assert faults.is_conflict(auth_errors.Conflict("in use"))
    assert faults.describe(sdk_errors.SDKException("odd")) == "odd"


def test_broken_connection_is_retried_with_unknown_outcome() -> None:
    broken = ConnectFailure("refused")
    assert faults.lands_within(broken) == 15
    assert faults.retry_after(broken, 0) == 0.5
    assert faults.retry_after(broken, 3) == 4.0


def test_the_pause_that_a_service_asks_for_wins() -> None:
    assert faults.retry_after(CloudError(429, "slow down", retry_after=9.0), 0) == 9.0


@pytest.mark.parametrize("status", [408, 429, 502, 503, 504])
def test_passing_fault_is_retried_with_bounded_pauses(status: int) -> None:
    pauses = [faults.retry_after(CloudError(status, "busy"), attempt) or 0 for attempt in range(99)]
    assert sorted(pauses) == pauses
    assert pauses[:3] == [0.5, 1, 2]
    assert pauses[-1] == 20


@pytest.mark.parametrize("status", [409, 500])
def test_possibly_permanent_fault_is_retried_for_minutes(status: int) -> None:
    pauses = []
    while pause := faults.retry_after(CloudError(status, "in use"), len(pauses)):
        pauses.append(pause)
    assert 240 < sum(pauses) < 600


def reached_at(url: str, **arguments: Any) -> BaseException:
    """Return the exception that keystoneauth raises for such a request."""
    with pytest.raises(Exception) as caught:
        session.Session().get(url, authenticated=False, **arguments)
    return caught.value


@pytest.mark.parametrize(("status", "least"), [(408, 10), (500, 1), (502, 10), (504, 60)])
def test_gateway_error_leaves_outcome_unknown(status: int, least: float) -> None:
    assert faults.lands_within(CloudError(status, "?")) >= least


@pytest.mark.parametrize("status", [400, 403, 404, 409, 413, 429, 503])
def test_a_refusal_says_that_nothing_was_done(status: int) -> None:
    assert faults.lands_within(CloudError(status, "no")) == 0


def test_refused_connection_means_not_carried_out() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        refused = reached_at(f"http://127.0.0.1:{nobody.getsockname()[1]}")
    assert faults.lands_within(refused) == 0
    assert faults.retry_after(refused, 50) is not None


@pytest.mark.parametrize(("hangs_up", "least"), [(True, 10), (False, 60)])
def test_unanswered_request_may_still_be_carried_out(hangs_up: bool, least: float) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                if not hangs_up:
                    connection.recv(4096)

        thread = threading.Thread(target=accept)
        thread.start()
        lost = reached_at(f"http://127.0.0.1:{server.getsockname()[1]}", timeout=0.2)
        thread.join()
    assert faults.lands_within(lost) >= least


def test_unreadable_answer_counts_as_lost() -> None:
    unreadable = UnreadableAnswerError(201, "a body that is not JSON")
    assert faults.lands_within(unreadable) > 0
    assert faults.retry_after(unreadable, 0) is not None


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "bad"),
        (403, "no"),
        (404, "gone"),
        (409, "Quota exceeded"),
        (409, "Gateway cannot be updated: it is required by one or more floating IPs."),
        (409, "The device /dev/vda is already in use."),
        (409, "IP address 10.0.0.5 already allocated in subnet s."),
        (413, "VolumeLimitExceeded: Maximum number of volumes allowed (3) exceeded for quota"),
        (413, "ShareLimitExceeded: Maximum number of shares allowed (50) exceeded."),
        (413, "Your request is too large."),
    ],
)
def test_plain_refusals_are_final(status: int, words: str) -> None:
    assert faults.retry_after(CloudError(status, words), 0) is None


def test_exceeded_quota_is_final_despite_zero_retry_after() -> None:
    # Cinder and Manila send "Retry-After: 0" with each refusal of this kind.
    exceeded = CloudError(413, "VolumeSizeExceedsAvailableQuota", retry_after=0.0)
    assert faults.retry_after(exceeded, 0) is None


@pytest.mark.parametrize(
    ("words", "pause"), [("This request was rate-limited.", None), ("Over limit", 7.0)]
)
def test_rate_limit_with_status_413_is_retried(words: str, pause: float | None) -> None:
    assert faults.retry_after(CloudError(413, words, retry_after=pause), 50) == (pause or 20.0)


def test_a_conflict_with_an_object_in_use_passes() -> None:
    assert faults.retry_after(CloudError(409, "ports are still in use"), 0) is not None


def test_service_faults_differ_from_cloud_faults() -> None:
    assert not faults.is_cloud_fault(KeyError("x"))
    assert faults.is_cloud_fault(ConnectFailure("x"))
    assert faults.is_cloud_fault(CloudError(500, "x"))
