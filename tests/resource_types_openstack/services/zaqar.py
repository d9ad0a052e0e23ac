"""Messaging."""

from __future__ import annotations

import uuid
from typing import Any

from tests.clouds.fake_cloud import RefusalError
from tests.clouds.fake_services import Kind, Object, Service
from tests.resource_types_openstack.harness import Case

_PAGE = 10


def _queue(service: Service, match: Any, body: Any) -> Any:
    """Made, or left as it is."""
    service.objects("/queues").setdefault(match[1], {"name": match[1], "metadata": dict(body)})


def _asked(service: Service, match: Any, body: Any) -> Object:
    """Asked for a queue, the service makes it."""
    found = service.objects("/queues").setdefault(match[1], {"name": match[1], "metadata": {}})
    return {"_max_messages_post_size": 262144, "_default_message_ttl": 3600, **found["metadata"]}


def _subscribe(service: Service, match: Any, body: Any) -> Object:
    table = service.objects(f"/queues/{match[1]}/subscriptions")
    if any(item["subscriber"] == body["subscriber"] for item in table.values()):
        raise RefusalError(409, "Such subscription already exists.")
    made = str(uuid.uuid4())
    table[made] = {"id": made, "options": {}, "ttl": 3600, "source": match[1], "age": 0, **body}
    return {"subscription_id": made}


def _share(service: Service, match: Any, body: Any) -> Object:
    if unknown := body.keys() - {"paths", "methods", "expires"}:
        raise RefusalError(400, f"{unknown} cannot be given")
    paths = [f"/v2/queues/{match[1]}/{part}" for part in body.get("paths") or ["messages"]]
    methods, expires = body.get("methods") or ["GET"], body.get("expires") or "2030-01-01T00:00:00"
    return {
        "project": "project",
        "paths": paths,
        "methods": methods,
        "expires": expires,
        "signature": "abc",
    }


class Messaging(Service):
    """Lists ten at a time. Where there is one object, its page leads to itself."""

    def _collection(self, kind: Kind, method: str, path: str, body: Any, params: Any) -> Any:
        answer = super()._collection(kind, method, path, body, {})
        if method != "GET":
            return answer
        every = answer[kind.plural]
        start = int(params.get("marker", 0)) if len(every) > 1 else 0
        end = min(start + _PAGE, len(every))
        listed = every[start:end]
        following = {"rel": "next", "href": f"/v2{path}?marker={end}"}
        return {kind.plural: listed, "links": [following] if listed else []}


def service() -> Service:
    """The messaging service."""
    return Messaging(
        (
            Kind("/queues", "queue", "queues", "name", "metadata", "PATCH", bare=True),
            Kind(
                "/queues/{}/subscriptions",
                "subscription",
                "subscriptions",
                "",
                "subscriber ttl options",
                method="PATCH",
                bare=True,
            ),
        ),
        (
            ("PUT", r"/queues/([^/]+)", _queue),
            ("GET", r"/queues/([^/]+)", _asked),
            ("POST", r"/queues/([^/]+)/subscriptions", _subscribe),
            ("POST", r"/queues/([^/]+)/share", _share),
        ),
    )


QUEUE = Case(
    "OS::Zaqar::Queue",
    {"metadata": {"a": 1, "c": 3}},
    {"metadata": {"a": 2, "b": 1}},
    {"name": "x"},
)
CASES = (
    QUEUE,
    Case(
        "OS::Zaqar::Subscription",
        {"queue_name": "@queue", "subscriber": "http://127.0.0.1/a"},
        {"options": {"k": "v"}, "subscriber": "mailto:b@example.org", "ttl": 600},
        dependencies={"@queue": QUEUE},
    ),
    Case(
        "OS::Zaqar::MistralTrigger",
        {"queue_name": "@queue", "workflow_id": "w", "input": {"a": 1}},
        {"input": {"b": 2}, "params": {"env": {"c": 3}}, "ttl": 600, "workflow_id": "w2"},
        dependencies={"@queue": QUEUE},
    ),
    Case(
        "OS::Zaqar::SignedQueueURL",
        {"queue": "q", "paths": ["messages"], "ttl": 9_000_000_000},
        makes_nothing=True,
    ),
)
