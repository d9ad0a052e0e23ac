"""Secrets do not appear in the log, whatever is logged."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from stoker.kernel.logs import log
from stoker.kernel.logs.lines import JsonFormatter, TextFormatter
from stoker.kernel.logs.masking import Masking
from stoker.kernel.logs.redaction import redacted

TOKEN = "gAAAAABlXq3s0b8Jq0Zk1n5u7yQ8w9eRtYuIoPaSdFgHjKlZxCvBnM-_1234567890=="


@pytest.mark.parametrize(
    "text",
    [
        f"token {TOKEN} was refused",
        "password=geheim1",
        "password: geheim1, user: demo",
        "{'password': 'geheim1 with spaces', 'user': 'demo'}",
        '{"adminPass": "geheim1"}',
        '"{\\"auth\\": {\\"password\\": \\"geheim1\\"}}"',
        "X-Auth-Token: geheim1",
        "x-subject-token=geheim1",
        "X-Auth-Key: geheim1",
        "Authorization: Bearer geheim1",
        "postgresql+psycopg://stoker:geheim1@db/stoker",
        "rabbit://u:geheim1@a:5672,u:geheim1@b:5672//",
        "http://h/v1/signal?Signature=geheim1&Timestamp=2026",
        "aws_secret_access_key = geheim1",
        "auth_encryption_key=geheim1",
        "stack_domain_admin_password='geheim1'",
        "db_password: geheim1",
        "-----BEGIN RSA PRIVATE KEY-----\ngeheim1\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\ngeheim1 that was cut",
        "secret => 'geheim1'",
        "api_key=geheim1;more",
    ],
)
def test_what_looks_like_a_secret_is_hidden(text: str) -> None:
    hidden = redacted(text)
    assert "geheim1" not in hidden
    assert TOKEN not in hidden
    assert "***" in hidden


@pytest.mark.parametrize(
    "text",
    [
        "stack taken over by another engine stack=a-1",
        "the server web-1 is gone (HTTP 404, request req-7b1c)",
        "a token of the identity service is needed",
        "the password is too short",
        "http://127.0.0.1:8004/v1/p/stacks?limit=2",
        "volume: 3, size: 10, name: tokens",
        "running=cli/serving.py:64",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert redacted(text) == text


def test_long_texts_do_not_take_long() -> None:
    for text in ("a" * 200_000, "://" * 60_000, "token" * 40_000, "a-" * 100_000, "'" * 200_000):
        redacted(text)


@pytest.fixture(params=["text", "json"])
def lines(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    """Return the logged lines, in both forms."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    json_lines = request.param == "json"
    handler.setFormatter(JsonFormatter() if json_lines else TextFormatter("%(message)s"))
    logger = logging.getLogger("stoker.redaction")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield stream
    logger.removeHandler(handler)


def test_secrets_are_hidden_in_events_values_and_tracebacks(lines: io.StringIO) -> None:
    told = log.Log("stoker.redaction")
    told.warning("login failed", password="geheim1", user="demo")
    told.warning("refused", reason=f"token {TOKEN}", body='{"password": "geheim1"}')
    try:
        raise ValueError("postgresql://u:geheim1@db said no")
    except ValueError:
        told.exception("failed")
    logging.getLogger("stoker.redaction").error("X-Auth-Token: %s", "geheim1")
    text = lines.getvalue()
    assert "geheim1" not in text
    assert TOKEN not in text
    assert "demo" in text
    assert "ValueError" in text


def test_hidden_parameters_are_masked_in_driver_logs(
    lines: io.StringIO,
) -> None:
    masking = Masking(["hunter-22"])
    log.conceal(masking.text)
    told = log.Log("stoker.redaction")
    try:
        raise ValueError("the cloud does not like hunter-22")
    except ValueError:
        told.exception("step failed", reason="hunter-22 is too short")
    log.conceal(lambda text: text)
    assert "hunter-22" not in lines.getvalue()
    assert lines.getvalue().count("******") >= 2


def test_json_line_is_an_object_with_values() -> None:
    record = logging.LogRecord("stoker.x", logging.INFO, "f", 1, "message", None, None)
    record.event = "stack left"
    record.values = {"stack": "a", "times": 3, "token": "geheim1"}
    found = json.loads(JsonFormatter().format(record))
    assert found.pop("time").endswith("+00:00")
    assert found == {
        "level": "INFO",
        "logger": "stoker.x",
        "event": "stack left",
        "stack": "a",
        "times": 3,
        "token": "***",
    }


def test_request_with_client_id_has_both_ids(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with log.request("req-own", "req-clients"):
        log.Log("stoker.test").error("failed")
        assert log.request_across() == "req-clients"
    assert caplog.records[0].getMessage() == (
        "failed request_id=req-own global_request_id=req-clients"
    )
    assert log.request_across() is None
