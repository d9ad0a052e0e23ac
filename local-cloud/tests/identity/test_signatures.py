import base64
import hashlib
import hmac
import json
from typing import Any

import pytest
from msgspec.structs import replace

from localcloud.identity.tokens.signatures import SignedRequest, verify_string

V2_SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
V2 = SignedRequest(
    signature="i91nKc4PWAt0JJIdXwz9HxZCJDdiy6cf/Mj6vPxyYIs=",
    verb="GET",
    host="elasticmapreduce.amazonaws.com",
    path="/",
    params={
        "AWSAccessKeyId": "AKIAIOSFODNN7EXAMPLE",
        "Action": "DescribeJobFlows",
        "SignatureMethod": "HmacSHA256",
        "SignatureVersion": "2",
        "Timestamp": "2011-10-03T15:19:30",
        "Version": "2009-03-31",
    },
)
V4_SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
V4 = SignedRequest(
    signature="5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
    verb="GET",
    host="iam.amazonaws.com",
    path="/",
    params={"Action": "ListUsers", "Version": "2010-05-08"},
    headers={
        "content-type": "application/x-www-form-urlencoded; charset=utf-8",
        "x-amz-date": "20150830T123600Z",
        "authorization": "AWS4-HMAC-SHA256 "
        "Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
        "SignedHeaders=content-type;host;x-amz-date, Signature=...",
    },
)


@pytest.mark.parametrize(("request_", "secret"), [(V2, V2_SECRET), (V4, V4_SECRET)])
def test_published_examples_verify(request_: SignedRequest, secret: str) -> None:
    assert request_.verify(secret)
    assert replace(request_, host=request_.host + ":8000").verify(secret)
    assert not request_.verify(secret + "x")
    assert not replace(request_, path="/other").verify(secret)
    assert not replace(request_, verb="DELETE").verify(secret)


def test_version_2_with_sha1_and_old_versions_verify() -> None:
    def signed(text: str, algorithm: str) -> str:
        digest = hmac.new(b"secret", text.encode(), algorithm).digest()
        return base64.b64encode(digest).decode()

    params = {"A": "b c", "SignatureVersion": "2", "SignatureMethod": "HmacSHA1"}
    text = "POST\nhost:8000\n/v1/\nA=b%20c&SignatureMethod=HmacSHA1&SignatureVersion=2"
    request = SignedRequest(signed(text, "sha1"), "POST", "host:8000", "/v1/", params)
    assert request.verify("secret")
    zero = {"SignatureVersion": "0", "Action": "X", "Timestamp": "T"}
    assert SignedRequest(signed("XT", "sha1"), params=zero).verify("secret")
    one = {"SignatureVersion": "1", "b": "2", "A": "1"}
    text = "A1b2SignatureVersion1"
    assert SignedRequest(signed(text, "sha1"), params=one).verify("secret")
    assert not SignedRequest("x", params={"SignatureVersion": "3"}).verify("secret")
    assert not SignedRequest("x", params={**params, "SignatureMethod": "MD5"}).verify("secret")


@pytest.mark.parametrize(
    ("params", "headers"),
    [
        ({"X-Amz-Date": "20260101T000000Z"}, {}),
        ({}, {"x-amz-date": "20260101T000000Z"}),
        ({"Timestamp": "2026-01-01T00:00:00Z"}, {}),
        ({"Timestamp": "2026-01-01T00:00:00"}, {}),
    ],
)
def test_the_time_of_signing_is_found(params: dict[str, str], headers: dict[str, str]) -> None:
    moment = SignedRequest("x", params=params, headers=headers).timestamp
    assert moment is not None
    assert moment.isoformat() == "2026-01-01T00:00:00+00:00"


def test_strings_to_sign_of_s3_verify() -> None:
    text = b"GET\n\n\nThu, 01 Jan 2026 00:00:00 GMT\n/bucket/key"
    signature = base64.b64encode(hmac.new(b"secret", text, hashlib.sha1).digest()).decode()
    assert verify_string("secret", base64.b64encode(text).decode(), signature)
    assert not verify_string("other", base64.b64encode(text).decode(), signature)
    with pytest.raises(ValueError):
        verify_string("secret", "no base64!", signature)


SERVICE = {"name": "service", "domain": {"id": "default"}}


@pytest.fixture
async def stoker(running: Any) -> Any:
    """The orchestration service, which sends the signed requests that it got."""
    return await running.login("stoker", project=SERVICE)


async def signed_request(caller: Any, access: str, secret: str, **params: str) -> Any:
    """Ask for a token with a signature of version 2."""
    params = {
        "AWSAccessKeyId": access,
        "SignatureVersion": "2",
        "SignatureMethod": "HmacSHA256",
        **params,
    }
    request = SignedRequest("", "GET", "127.0.0.1:8000", "/v1/", params)
    content = {
        "access": access,
        "signature": request.expected(secret),
        "host": request.host,
        "verb": request.verb,
        "path": request.path,
        "params": params,
    }
    return await caller("POST", "/ec2tokens", {"ec2Credentials": content})


async def test_signature_is_exchanged_for_token_of_user(stoker: Any, demo: Any) -> None:
    user, project = demo.body["user"]["id"], demo.body["project"]["id"]
    path = f"/users/{user}/credentials/OS-EC2"
    key = (await demo("POST", path, {"tenant_id": project})).json()["credential"]
    answer = await signed_request(stoker, key["access"], key["secret"])
    assert answer.status_code == 200
    assert answer.json()["token"]["project"]["id"] == project
    assert answer.json()["token"]["methods"] == ["ec2credential"]
    subject = answer.headers["x-subject-token"]
    seen = await demo("GET", "/auth/tokens", X_Auth_Token=subject, X_Subject_Token=subject)
    assert seen.json()["token"]["user"]["name"] == "demo"
    for access, secret in ((key["access"], "wrong"), ("wrong", key["secret"])):
        refused = await signed_request(stoker, access, secret)
        assert refused.status_code == 401


async def test_signature_is_valid_for_fifteen_minutes(
    running: Any, stoker: Any, demo: Any, clock: Any
) -> None:
    user, project = demo.body["user"]["id"], demo.body["project"]["id"]
    path = f"/users/{user}/credentials/OS-EC2"
    key = (await demo("POST", path, {"tenant_id": project})).json()["credential"]
    pair = (key["access"], key["secret"])
    for seconds, status in ((0, 200), (899, 200), (1, 401)):
        clock.advance(seconds)
        answer = await signed_request(stoker, *pair, Timestamp="2026-01-01T00:00:00Z")
        assert answer.status_code == status
    clock.advance(10 * 365 * 86400)
    stoker = await running.login("stoker", project=SERVICE)
    assert (await signed_request(stoker, *pair)).status_code == 200
    for name in ("Timestamp", "Expires"):
        bad = await signed_request(stoker, *pair, **{name: "soon"})
        assert bad.status_code == 400


async def test_signature_ends_when_its_request_expires(stoker: Any, demo: Any, clock: Any) -> None:
    user, project = demo.body["user"]["id"], demo.body["project"]["id"]
    path = f"/users/{user}/credentials/OS-EC2"
    key = (await demo("POST", path, {"tenant_id": project})).json()["credential"]
    for seconds, status in ((59, 200), (1, 401)):
        clock.advance(seconds)
        answer = await signed_request(
            stoker, key["access"], key["secret"], Expires="2026-01-01T00:01:00Z"
        )
        assert answer.status_code == status


async def test_owner_lists_shows_and_deletes_key_pairs(demo: Any, admin: Any) -> None:
    user, project = demo.body["user"]["id"], demo.body["project"]["id"]
    path = f"/users/{user}/credentials/OS-EC2"
    key = (await demo("POST", path, {"tenant_id": project})).json()["credential"]
    assert (await demo("GET", path)).json()["credentials"] == [key]
    one = f"{path}/{key['access']}"
    assert (await demo("GET", one)).json()["credential"] == key
    listed = (await demo("GET", "/credentials?type=ec2")).json()["credentials"]
    assert [json.loads(c["blob"])["access"] for c in listed] == [key["access"]]
    other = f"/users/{admin.body['user']['id']}/credentials/OS-EC2"
    assert (await demo("GET", other)).status_code == 403
    assert (await demo("DELETE", one)).status_code == 204
    assert (await demo("GET", one)).status_code == 404


async def test_ec2_credentials_have_unique_key_and_project(demo: Any) -> None:
    project = demo.body["project"]["id"]
    content = {"type": "ec2", "blob": '{"access": "a", "secret": "s"}', "project_id": project}
    made = await demo.made("/credentials", "credential", **content)
    assert made["id"] == hashlib.sha256(b"a").hexdigest()
    assert (await demo("POST", "/credentials", {"credential": content})).status_code == 409
    for wrong in ({"project_id": None}, {"blob": "x"}, {"blob": "{}"}, {"blob": "[]"}):
        answer = await demo("POST", "/credentials", {"credential": {**content, **wrong}})
        assert answer.status_code == 400


async def test_key_created_with_trust_gives_its_token(
    running: Any, stoker: Any, admin: Any, demo: Any
) -> None:
    trust = await demo.made(
        "/OS-TRUST/trusts",
        "trust",
        trustor_user_id=demo.body["user"]["id"],
        trustee_user_id=admin.body["user"]["id"],
        project_id=demo.body["project"]["id"],
        impersonation=True,
        roles=[{"name": "member"}],
    )
    delegate = await running.login("admin", **{"OS-TRUST:trust": {"id": trust["id"]}})
    user, project = demo.body["user"]["id"], demo.body["project"]["id"]
    path = f"/users/{user}/credentials/OS-EC2"
    key = (await delegate("POST", path, {"tenant_id": project})).json()["credential"]
    assert key["trust_id"] == trust["id"]
    answer = await signed_request(stoker, key["access"], key["secret"])
    token = answer.json()["token"]
    assert token["OS-TRUST:trust"]["id"] == trust["id"]
    assert [role["name"] for role in token["roles"]] == ["member", "reader"]
    await demo("DELETE", f"/OS-TRUST/trusts/{trust['id']}")
    gone = await signed_request(stoker, key["access"], key["secret"])
    assert gone.status_code == 401
