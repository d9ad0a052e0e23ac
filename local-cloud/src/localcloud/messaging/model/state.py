"""Documents of the messaging service: queues, messages, claims and subscriptions."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import uuid4

from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.identity.service_trusts import Trusts
from localcloud.messaging.errors import not_found, unavailable

# Attributes that every queue has, with their defaults.
RESERVED = {
    "_max_messages_post_size": 256 * 1024,
    "_default_message_ttl": 3600,
    "_default_message_delay": 0,
    "_dead_letter_queue": None,
    "_dead_letter_queue_messages_ttl": None,
    "_max_claim_count": None,
    "_enable_encrypt_messages": False,
}
_MOST_MESSAGES = 10_000  # in one queue
TRUST = "trust+"  # prefix of a subscriber's address, for deliveries with a token of a trust


class State:
    """The collections of the messaging service."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        store = cloud.store
        self.queues = store.collection("messaging.queue", index=("project_id",))
        self.messages = store.collection("messaging.message", index=("queue_id", "claim_id"))
        self.claims = store.collection("messaging.claim", index=("queue_id",))
        self.subscriptions = store.collection("messaging.subscription", index=("queue_id",))
        self.trusts = Trusts(cloud)  # for deliveries with a token
        self.subscriptions.watch(self._forget_trust)

    def _forget_trust(self, before: Document | None, after: Document | None) -> None:
        """Have the trust of a subscription end with it, whatever has ended that."""
        used = before and before.get("trust_id")
        if used and used != (after or {}).get("trust_id"):
            self.trusts.remove(used)

    def now(self) -> int:
        """Return the present second."""
        return int(self.cloud.clock.now().timestamp())

    def queue(self, project: str, name: str) -> Document:
        """Return a queue; raises MessagingError (404) if it does not exist."""
        found = self.queues.get(queue_id(project, name))
        if found is None:
            raise not_found(f"Queue {name} does not exist for project {project}")
        return found

    def ensured(self, project: str, name: str) -> Document:
        """Return a queue, which is made where it is not there."""
        found = self.queues.get(queue_id(project, name))
        return found or self.add_queue(project, name, {})

    def add_queue(self, project: str, name: str, metadata: Document) -> Document:
        """Make a queue."""
        made = {
            "id": queue_id(project, name),
            "project_id": project,
            "name": name,
            "metadata": metadata,
        }
        self.queues.put(made)
        return made

    def delete_queue(self, key: str) -> None:
        """Remove a queue with all that is in it."""
        with self.cloud.store.transaction():
            for collection in (self.messages, self.claims, self.subscriptions):
                collection.delete_all(queue_id=key)
            self.queues.delete(key)

    def subscriptions_of(self, key: str) -> list[Document]:
        """Return the subscriptions of a queue. Those whose time has ended are deleted."""
        now = self.now()
        found = list(self.subscriptions.find(queue_id=key))
        for each in found:
            if each["expires"] <= now:
                self.subscriptions.delete(each["id"])
        return [each for each in found if each["expires"] > now]

    def alive(self, key: str) -> list[Document]:
        """Return the messages of a queue whose time has not ended; forgets the others."""
        now = self.now()
        found = list(self.messages.find(queue_id=key))
        ended = [message["id"] for message in found if message["expires"] <= now]
        if ended:
            with self.cloud.store.transaction():
                for message_id in ended:
                    self.messages.delete(message_id)
        return [message for message in found if message["expires"] > now]

    def is_claimed(self, message: Document) -> bool:
        """Return whether a claim holds a message."""
        return message["claim_id"] is not None and message["claim_expires"] > self.now()

    def free(self, key: str) -> list[Document]:
        """Return the messages that can be claimed."""
        now = self.now()
        alive = self.alive(key)
        return [m for m in alive if not self.is_claimed(m) and m["delayed_until"] <= now]

    def post(self, key: str, client: str, posted: Sequence[Document]) -> list[str]:
        """Put messages into a queue and return their IDs; raises MessagingError for too many."""
        now = self.now()
        if len(self.alive(key)) + len(posted) > _MOST_MESSAGES:
            raise unavailable("Messages could not be enqueued.")
        made = [
            {
                "id": str(uuid4()),
                "queue_id": key,
                "client": client,
                "body": message["body"],
                "ttl": message["ttl"],
                "created": now,
                "expires": now + message["ttl"],
                "delayed_until": now + message.get("delay", 0),
                "claim_id": None,
                "claim_expires": 0,
                "claim_count": 0,
                "checksum": checksum(message["body"]),
            }
            for message in posted
        ]
        with self.cloud.store.transaction():
            for message in made:
                self.messages.put(message)
        return [message["id"] for message in made]

    def claim(
        self, queue: Document, ttl: int, grace: int, limit: int
    ) -> tuple[str, list[Document]]:
        """Claim the oldest free messages; returns the ID of the claim, and the messages.

        A message that was claimed as often as the queue allows is moved to its dead letter queue.
        """
        claim_id, now = str(uuid4()), self.now()
        end = now + ttl
        most, grave = (queue["metadata"].get(k) for k in ("_max_claim_count", "_dead_letter_queue"))
        claimed = []
        with self.cloud.store.transaction():
            for message in self.free(queue["id"])[:limit]:
                if most and grave and message["claim_count"] >= most:
                    self._bury(queue, message)
                    continue
                changed = {
                    **message,
                    "claim_id": claim_id,
                    "claim_expires": end,
                    "claim_count": message["claim_count"] + 1,
                }
                claimed.append(outliving(changed, ttl, grace, now))
                self.messages.put(claimed[-1])
            if claimed:
                self.claims.put(
                    {
                        "id": claim_id,
                        "queue_id": queue["id"],
                        "ttl": ttl,
                        "updated": now,
                        "expires": end,
                    }
                )
        return claim_id, claimed

    def _bury(self, queue: Document, message: Document) -> None:
        metadata = queue["metadata"]
        grave = self.ensured(queue["project_id"], str(metadata["_dead_letter_queue"]))
        ttl = metadata.get("_dead_letter_queue_messages_ttl") or message["ttl"]
        now = self.now()
        moved = {"queue_id": grave["id"], "ttl": ttl, "expires": now + ttl, "claim_count": 0}
        self.messages.put({**message, **moved, "claim_id": None})

    def claimed_by(self, claim_id: str) -> list[Document]:
        """Return the messages of a claim."""
        return [m for m in self.messages.find(claim_id=claim_id) if self.is_claimed(m)]

    def remove(self, message_ids: Iterable[str], key: str) -> None:
        """Remove messages of a queue; missing ones are fine."""
        with self.cloud.store.transaction():
            for message_id in message_ids:
                found = self.messages.get(message_id)
                if found is not None and found["queue_id"] == key:
                    self.messages.delete(message_id)

    def view(self, message: Document) -> Document:
        """Return a message as lists show it."""
        shown: dict[str, Any] = {name: message[name] for name in ("id", "ttl", "body")}
        return {**shown, "age": self.now() - message["created"], "checksum": message["checksum"]}


def queue_id(project: str, name: str) -> str:
    """Return the key of a queue."""
    return f"{project}/{name}"


def outliving(message: Document, ttl: int, grace: int, now: int) -> Document:
    """Return a message that lives at least as long as its claim, and a while longer."""
    if message["expires"] >= now + ttl:
        return message
    return {**message, "ttl": ttl + grace, "expires": now + ttl + grace}


def checksum(body: Any) -> str:
    """Return the checksum of a body, for its readers."""
    digest = hashlib.md5(json.dumps(body).encode(), usedforsecurity=False)
    return f"MD5:{digest.hexdigest()}"
