"""The work on orders: keys that the key manager creates after it has answered the request.

A pending order is in the store before the request is answered. The keys and the end of the order
are one transaction: an order that a restart interrupts is started again and leaves no second key.
An order that is deleted before its end leaves none.
"""

import asyncio
from functools import partial
from typing import Any

from localcloud.core.store import Document
from localcloud.core.work import Work
from localcloud.key_manager.model import keys
from localcloud.key_manager.model.new_secret import described
from localcloud.key_manager.model.payloads import BINARY, PayloadCipher, normalized
from localcloud.key_manager.model.state import State

_UNKNOWN = {
    "error_status_code": "400",
    "error_reason": "Process TypeOrder issue seen - Secret generate supported plugin not found..",
}
_FAILED = {
    "error_status_code": "500",
    "error_reason": "Process TypeOrder failure seen - please contact site administrator.",
}


class OrderJobs:
    """Orders in progress."""

    def __init__(self, state: State, cipher: PayloadCipher) -> None:
        self._state = state
        self._cipher = cipher
        self._work = Work()

    def resume(self) -> None:
        """Start the orders that the last process left."""
        for order in list(self._state.orders.find(status="PENDING")):
            self.start(order)

    async def soon(self, order_id: str) -> None:
        """Return when an order has ended, or after half a second."""
        await self._work.soon(order_id)

    async def stop(self) -> None:
        """End the work; the next process resumes it."""
        await self._work.stop()

    def start(self, order: Document) -> None:
        """Create the keys of an order in the background."""
        self._work.begin(order["id"], partial(self._create, order))

    async def _create(self, order: Document) -> None:
        meta = order["meta"]
        algorithm, bits = str(meta["algorithm"]), int(meta["bit_length"])
        if not keys.can_make(order["type"], algorithm, bits, meta.get("mode")):
            self._end(order, status="ERROR", fault=_UNKNOWN)
        elif order["type"] == "key":
            secret = self._secret(order, "symmetric", keys.symmetric(bits))
            with self._state.cloud.store.transaction():
                if self._end(order, status="ACTIVE", made={"secret": secret["id"]}):
                    self._state.secrets.put(secret)
        else:
            await self._make_pair(order, algorithm, bits)

    async def _make_pair(self, order: Document, algorithm: str, bits: int) -> None:
        passphrase = order["meta"].get("passphrase")
        try:
            private, public = await asyncio.to_thread(keys.pair, algorithm, bits, passphrase)
        except ValueError:
            # The passphrase is too long for the encryption of private keys.
            self._end(order, status="ERROR", fault=_FAILED)
            return
        parts = {
            "private_key": self._secret(order, "private", private),
            "public_key": self._secret(order, "public", public),
        }
        if passphrase:
            secret = self._secret(order, "passphrase", passphrase.encode())
            parts["private_key_passphrase"] = secret
        refs = [{"name": name, "secret_id": part["id"]} for name, part in parts.items()]
        container = self._made(
            order,
            name=order["meta"]["name"],
            type=algorithm.lower(),
            secrets=refs,
            consumers=[],
            acl={},
        )
        with self._state.cloud.store.transaction():
            if not self._end(order, status="ACTIVE", made={"container": container["id"]}):
                return
            for part in parts.values():
                self._state.secrets.put(part)
            self._state.containers.put(container)

    def _secret(self, order: Document, kind: str, payload: bytes) -> Document:
        meta = order["meta"]
        sealed = self._cipher.sealed(order["project_id"], payload)
        content = normalized(meta.get("payload_content_type") or BINARY)
        fields = {**described(meta), "secret_type": kind}
        return self._made(order, **{**fields, "payload": sealed, "content_type": content})

    def _made(self, order: Document, **fields: Any) -> Document:
        return self._state.new_in(order["project_id"], order["creator_id"], **fields)

    def _end(self, order: Document, **changes: Any) -> bool:
        """Write the end of an order; return False if the order has been deleted."""
        changes["updated"] = self._state.now()
        return self._state.orders.change(order["id"], **changes) is not None
