"""Orders: keys that are really made."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from cloud_testing.caller import Caller
from localcloud.core.cloud import Cloud, LazyService
from localcloud.key_manager.jobs import OrderJobs
from localcloud.key_manager.model.payloads import PayloadCipher
from localcloud.key_manager.model.state import State
from localcloud.key_manager.service import KeyManagerService


async def ordered(keys: Caller, kind: str, **meta: Any) -> str:
    body = {"type": kind, "meta": {"name": "k", "bit_length": 256, **meta}}
    ref = (await keys.call("POST", "/orders", body, 202))["order_ref"]
    return "/orders/" + str(ref).rpartition("/")[2]


async def done(keys: Caller, path: str) -> Any:
    """The order, once it has ended; each call waits for a while."""
    for _ in range(120):
        found = await keys.get(path)
        if found["status"] != "PENDING":
            return found
    raise AssertionError(found)


async def payload(keys: Caller, ref: str) -> bytes:
    answer = await keys.send("GET", f"{ref}/payload")
    assert answer.status_code == 200, answer.text
    return answer.content


async def test_a_key_is_made(keys: Caller) -> None:
    path = await ordered(keys, "key", algorithm="aes", mode="cbc")
    order = await done(keys, path)
    assert (order["status"], order["type"]) == ("ACTIVE", "key")
    assert order["meta"]["algorithm"] == "aes"
    secret = await keys.get(order["secret_ref"])
    assert (secret["name"], secret["secret_type"], secret["bit_length"]) == ("k", "symmetric", 256)
    first = await payload(keys, order["secret_ref"])
    second = await done(keys, await ordered(keys, "key", algorithm="aes"))
    assert (len(first), first == await payload(keys, second["secret_ref"])) == (32, False)
    assert (await keys.get("/orders"))["total"] == 2
    await keys.of("other").call("GET", path, expect=404)
    await keys.call("DELETE", path, expect=204)
    assert (await keys.call("GET", path, expect=404))["description"] == "Order not found."
    await keys.get(order["secret_ref"])


async def test_key_pair_order_creates_container(keys: Caller) -> None:
    fields = {"algorithm": "rsa", "bit_length": 2048, "passphrase": "hush"}
    order = await done(keys, await ordered(keys, "asymmetric", **fields))
    assert order["status"] == "ACTIVE", order
    box = await keys.get(order["container_ref"])
    assert box["type"] == "rsa"
    refs = {ref["name"]: ref["secret_ref"] for ref in box["secret_refs"]}
    assert set(refs) == {"public_key", "private_key", "private_key_passphrase"}
    assert await payload(keys, refs["private_key_passphrase"]) == b"hush"
    private = load_pem_private_key(await payload(keys, refs["private_key"]), b"hush")
    public = load_pem_public_key(await payload(keys, refs["public_key"]))
    assert isinstance(private, RSAPrivateKey)
    assert (private.key_size, private.public_key()) == (2048, public)


async def test_what_cannot_be_made_ends_in_error(keys: Caller) -> None:
    long = {"algorithm": "rsa", "bit_length": 1024, "passphrase": "x" * 2000}
    order = await done(keys, await ordered(keys, "asymmetric", **long))
    assert (order["status"], order["error_status_code"]) == ("ERROR", "500")
    order = await done(keys, await ordered(keys, "key", algorithm="aes", bit_length=1024))
    assert (order["status"], order["error_status_code"]) == ("ERROR", "400")
    assert "Secret generate supported plugin not found" in order["error_reason"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"type": "certificate", "meta": {}}, "'certificate' is not one of"),
        ({"type": "key", "meta": {}}, "'algorithm' is required field for key type order"),
        (
            {"type": "asymmetric", "meta": {"algorithm": "rsa"}},
            "'bit_length' is required field for asymmetric key type order",
        ),
        ({"type": "key", "meta": {"bit_length": "x"}}, "schema 'Secret' within 'Order'"),
        (
            {"type": "key", "meta": {"algorithm": "aes", "bit_length": 7}},
            "Provided field value is not supported",
        ),
        ({"type": "key"}, "'meta' is a required property"),
    ],
)
async def test_what_is_no_order_is_refused(keys: Caller, body: Any, reason: str) -> None:
    answer = await keys.call("POST", "/orders", body, 400)
    assert reason in answer["description"]


async def test_interrupted_order_completes_after_restart(
    keys: Caller, cloud: Cloud, service: LazyService, client_of: Any
) -> None:
    path = await ordered(keys, "asymmetric", algorithm="rsa", bit_length=1024)
    await service.stop()
    (left,) = cloud.store.collection("key_manager.order").values()
    assert left["status"] == "PENDING"
    again = KeyManagerService(cloud)
    client: httpx.AsyncClient
    async with client_of(again, token=None) as client:
        order = await done(Caller(client, "/key-manager/v1"), path)
    await again.stop()
    assert order["status"] == "ACTIVE"
    assert len(cloud.store.collection("key_manager.container")) == 1


@pytest.mark.parametrize(("kind", "algorithm"), [("key", "aes"), ("asymmetric", "rsa")])
async def test_order_deleted_before_its_end_leaves_no_keys(
    cloud: Cloud, tmp_path: Path, kind: str, algorithm: str
) -> None:
    state = State(cloud)
    bits = 1024 if kind == "asymmetric" else 256
    meta = {"name": "k", "algorithm": algorithm, "bit_length": bits}
    order = {"id": "o", "project_id": "p", "creator_id": "u", "type": kind, "meta": meta}
    state.orders.put(order)
    jobs = OrderJobs(state, PayloadCipher(tmp_path / "key"))
    jobs.start(order)
    state.orders.delete("o")
    for _ in range(100):  # immediately once the work has ended
        await jobs.soon("o")
    assert [len(kinds) for kinds in (state.orders, state.secrets, state.containers)] == [0, 0, 0]
