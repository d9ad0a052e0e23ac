import hashlib
from collections.abc import Mapping
from typing import Any

import pytest

from stoker.identity.ec2 import SignatureVerifier
from stoker.identity.keystone import Keystone
from stoker.kernel.errors import RequestError

from .fake_keystone import FakeKeystone


@pytest.fixture
def verify(keystone: Keystone, fake: FakeKeystone) -> SignatureVerifier:
    fake.add_token("signed", roles=[{"name": "heat_stack_user"}])

    async def is_admin(_: Mapping[str, Any]) -> bool:
        return False

    return SignatureVerifier(keystone, is_admin)


def request(**changes: Any) -> dict[str, Any]:
    return {
        "method": "PUT",
        "host": "cfn:8000",
        "path": "/v1/x",
        "params": {"AWSAccessKeyId": "key", "Signature": "s", "SignatureVersion": "2"},
        "headers": {},
        "body": b"body",
        **changes,
    }


async def test_signed_request_gives_the_caller_of_the_key(
    verify: SignatureVerifier, fake: FakeKeystone
) -> None:
    caller = await verify(**request())
    assert (caller.user_id, caller.is_stack_user) == ("u1", True)
    assert fake.bodies[-1] == {
        "ec2Credentials": {
            "access": "key",
            "signature": "s",
            "host": "cfn:8000",
            "verb": "PUT",
            "path": "/v1/x",
            "params": {"AWSAccessKeyId": "key", "SignatureVersion": "2"},
            "headers": {},
            "body_hash": hashlib.sha256(b"body").hexdigest(),
        }
    }


@pytest.mark.parametrize(
    ("params", "headers"),
    [
        ({"X-Amz-Signature": "s", "X-Amz-Credential": "key/20260101/r/s/aws4_request"}, {}),
        (
            {},
            {
                "authorization": "AWS4-HMAC-SHA256 Credential=key/20260101/r/s/aws4_request,"
                " SignedHeaders=host;x-amz-date, Signature=s"
            },
        ),
    ],
)
async def test_key_and_signature_are_found_in_all_places(
    verify: SignatureVerifier,
    fake: FakeKeystone,
    params: dict[str, str],
    headers: dict[str, str],
) -> None:
    await verify(**request(params=params, headers=headers))
    sent = fake.bodies[-1]["ec2Credentials"]
    assert (sent["access"], sent["signature"]) == ("key", "s")


@pytest.mark.parametrize(
    ("params", "code"),
    [({}, "IncompleteSignature"), ({"Signature": "s"}, "MissingAuthenticationToken")],
)
async def test_incomplete_signature_is_refused_unasked(
    verify: SignatureVerifier, fake: FakeKeystone, params: dict[str, str], code: str
) -> None:
    with pytest.raises(RequestError) as refused:
        await verify(**request(params=params))
    assert refused.value.error_type.name == code
    assert not fake.asked


async def test_signature_that_the_identity_service_refuses_is_denied(
    verify: SignatureVerifier, fake: FakeKeystone
) -> None:
    fake.ec2_status = 401
    with pytest.raises(RequestError) as refused:
        await verify(**request())
    assert refused.value.error_type.name == "AccessDenied"


async def test_bad_signatures_cause_no_repeated_login(
    verify: SignatureVerifier, fake: FakeKeystone
) -> None:
    fake.ec2_status = 401
    for _ in range(5):
        with pytest.raises(RequestError):
            await verify(**request())
    assert fake.asked.count(("POST", "/auth/tokens")) == 1
