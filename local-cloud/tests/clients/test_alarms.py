"""Alarms of a running cloud are evaluated automatically, and act for their owners."""

import http.server
import json
import queue
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

# The libraries warn of their own code; that is none of the cloud's business.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]
PATIENCE = 60


@pytest.fixture
def receiver() -> Iterator[tuple[str, "queue.Queue[Any]"]]:
    """An address that records the posts to it: token and body."""
    posts: queue.Queue[Any] = queue.Queue()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            posts.put((self.headers.get("X-Auth-Token"), body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}", posts
    server.shutdown()
    thread.join()
    server.server_close()


def test_alarm_triggers_with_token_of_its_owner(demo: Any, receiver: Any) -> None:
    address, posts = receiver
    session = demo.session
    metric, alarms = {"service_type": "metric"}, {"service_type": "alarming"}
    made = {"id": "tank", "metrics": {"level": {"archive_policy_name": "high"}}}
    found = session.post("/v1/resource/generic", json=made, endpoint_filter=metric).json()
    measure = {"timestamp": datetime.now(UTC).isoformat(), "value": 9}
    where = f"/v1/metric/{found['metrics']['level']}/measures"
    session.post(where, json=[measure], endpoint_filter=metric)
    rule = {
        "metrics": [found["metrics"]["level"]],
        "aggregation_method": "max",
        "comparison_operator": "gt",
        "threshold": 5,
        "granularity": 3600,
    }
    alarm = {
        "name": "full",
        "type": "gnocchi_aggregation_by_metrics_threshold",
        "gnocchi_aggregation_by_metrics_threshold_rule": rule,
        "alarm_actions": [f"trust+http://{address}/ring", "zaqar://?queue_name=bells"],
    }
    made = session.post("/v2/alarms", json=alarm, endpoint_filter=alarms).json()
    token, told = posts.get(timeout=PATIENCE)
    assert told["alarm_name"] == "full"
    assert told["current"] == "alarm"
    url = f"{session.get_endpoint(service_type='identity')}/v3/auth/tokens"
    itself = {"X-Auth-Token": token, "X-Subject-Token": token}
    who = session.get(url, headers=itself, authenticated=False).json()["token"]
    assert who["user"]["name"] == "demo"
    assert who["OS-TRUST:trust"]["impersonation"] is True
    state = session.get(f"/v2/alarms/{made['alarm_id']}/state", endpoint_filter=alarms).json()
    assert state == "alarm"
    assert _first_message(session)["alarm_id"] == made["alarm_id"]
    session.delete(f"/v2/alarms/{made['alarm_id']}", endpoint_filter=alarms)
    gone = session.get(url, headers=itself, authenticated=False, raise_exc=False)
    assert gone.status_code == 401


def _first_message(session: Any) -> Any:
    """The body of the first message in the queue; it comes beside the others."""
    for _ in range(PATIENCE * 10):
        answer = session.get(
            "/v2/queues/bells/messages",
            headers={"Client-ID": "3381af92-2b9e-11e3-b191-71861300734c"},
            endpoint_filter={"service_type": "messaging"},
        )
        messages = answer.json()["messages"] if answer.content else []
        if messages:
            return messages[0]["body"]
        threading.Event().wait(0.1)
    raise AssertionError("no message came")
