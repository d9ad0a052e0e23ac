"""Log lines are one line each, with named values."""

import logging

import pytest

from stoker.kernel.logs import log


def test_a_line_has_the_event_and_its_values(caplog: pytest.LogCaptureFixture):
    log.Log("stoker.test").warning("credentials left behind", stack="a-1", error="no answer")
    (record,) = caplog.records
    assert record.getMessage() == "credentials left behind stack=a-1 error='no answer'"
    assert (record.name, record.levelno) == ("stoker.test", logging.WARNING)


def test_what_users_sent_cannot_forge_a_line(caplog: pytest.LogCaptureFixture):
    log.Log("stoker.test").error("failed", name="x\nERROR stoker: %s all is lost")
    assert "\n" not in caplog.records[0].getMessage()


def test_lines_within_a_request_name_it(caplog: pytest.LogCaptureFixture):
    with log.request("req-7"):
        try:
            raise ValueError("no")
        except ValueError:
            log.Log("stoker.test").exception("request failed")
    log.Log("stoker.test").error("later")
    assert caplog.records[0].getMessage() == "request failed request_id=req-7"
    assert caplog.records[0].exc_info is not None
    assert caplog.records[1].getMessage() == "later"
