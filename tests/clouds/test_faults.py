from __future__ import annotations

import pytest
from keystoneauth1.exceptions import http as auth_errors
from keystoneauth1.exceptions.connection import ConnectFailure
from openstack import exceptions as sdk_errors

from stoker.clouds import faults
from stoker.clouds.faults import CloudFault


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('{"NeutronError": {"type": "X", "message": "No more IPs", "detail": ""}}', "No more IPs"),
        ('{"itemNotFound": {"code": 404, "message": "No server"}}', "No server"),
        ('{"error": {"code": 401, "message": "Who are you", "title": "No"}}', "Who are you"),
        ('{"errors": [{"status": 406, "detail": "Old version"}]}', "Old version"),
        ('{"faultstring": "Policy", "faultcode": "Client"}', "Policy"),
        ("<html><h1>404 Not Found</h1> No image here</html>", "404 Not Found No image here"),
        ("", ""),
    ],
)
def test_the_words_of_each_service_are_found(body: str, message: str) -> None:
    assert faults.message_in(body) == message


def test_a_description_has_status_and_request_id() -> None:
    fault = CloudFault(409, "Quota exceeded", "req-1")
    assert faults.describe(fault) == "Quota exceeded (HTTP 409, request req-1)"


def test_exceptions_of_the_sdk_are_understood() -> None:
    absent = auth_errors.NotFound("no such thing")
    assert faults.is_not_found(absent)
    assert faults.describe(absent) == "no such thing (HTTP 404)"
    assert faults.is_conflict(auth_errors.Conflict("in use"))
    assert faults.describe(sdk_errors.SDKException("odd")) == "odd"


def test_a_broken_connection_is_worth_a_retry_and_its_outcome_unknown() -> None:
    broken = ConnectFailure("refused")
    assert faults.is_uncertain(broken)
    assert faults.retry_after(broken, 0) == 0.5
    assert faults.retry_after(broken, 3) == 4.0


def test_the_pause_that_a_service_asks_for_wins() -> None:
    assert faults.retry_after(CloudFault(429, "slow down", retry_after=9.0), 0) == 9.0


def test_retries_end() -> None:
    assert faults.retry_after(CloudFault(503, "busy"), 12) is None
    assert faults.retry_after(CloudFault(409, "in use"), 8) is None


@pytest.mark.parametrize(
    ("status", "words"), [(400, "bad"), (403, "no"), (404, "gone"), (409, "Quota exceeded")]
)
def test_plain_refusals_are_final(status: int, words: str) -> None:
    assert faults.retry_after(CloudFault(status, words), 0) is None


def test_a_conflict_with_an_object_in_use_passes() -> None:
    assert faults.retry_after(CloudFault(409, "ports are still in use"), 0) is not None


def test_faults_of_ours_are_told_from_faults_of_clouds() -> None:
    assert not faults.is_cloud_fault(KeyError("x"))
    assert faults.is_cloud_fault(ConnectFailure("x"))
    assert faults.is_cloud_fault(CloudFault(500, "x"))
