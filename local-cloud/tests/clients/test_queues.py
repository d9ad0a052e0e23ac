"""The messaging service of a running cloud, as ``openstack messaging`` and zaqarclient use it."""

from collections.abc import Callable
from typing import Any

import pytest

zaqar = pytest.importorskip("zaqarclient.queues.client", reason="zaqarclient is not installed")
# The libraries warn of their own code; that is none of the cloud's business.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]
Run = Callable[..., list[Any]]


def test_the_command_knows_queues_and_subscriptions(openstack: Run) -> None:
    answers = openstack(
        "messaging queue create news",
        "messaging queue list",
        "messaging subscription create news http://127.0.0.1:1/ 600",
        "messaging subscription list news",
        "messaging queue signed url news --methods GET -f json",
        "messaging queue delete news",
        "messaging queue list",
    )
    assert answers[0]["Name"] == "news"
    assert [row["Name"] for row in answers[1]] == ["news"]
    assert answers[3][0]["Subscriber"] == "http://127.0.0.1:1/"
    assert answers[4]["Paths"] == "/v2/queues/news/messages"
    assert answers[6] == []


def test_the_client_posts_claims_and_deletes(demo: Any) -> None:
    options = {"backend": "keystone", "options": {"os_auth_token": demo.auth_token}}
    project = {"os_project_id": demo.current_project_id}
    url = demo.session.get_endpoint(service_type="messaging", interface="public")
    options["options"] |= project
    client = zaqar.Client(url, version=2, conf={"auth_opts": options})
    queue = client.queue("work")
    queue.post([{"body": {"n": n}, "ttl": 60} for n in range(3)])
    assert [m.body["n"] for m in queue.messages(echo=True)] == [0, 1, 2]
    for message in queue.claim(ttl=60, grace=60, limit=2):
        message.delete()
    assert [m.body["n"] for m in queue.messages(echo=True)] == [2]
    assert queue.stats["messages"]["total"] == 1
    queue.delete()
