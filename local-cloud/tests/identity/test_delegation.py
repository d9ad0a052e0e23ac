"""Trusts and application credentials."""

import hashlib
import json
from typing import Any

import pytest


@pytest.fixture
async def trust_content(admin: Any, demo: Any) -> dict[str, Any]:
    """The demo user trusts the administrator."""
    return {
        "trustor_user_id": demo.body["user"]["id"],
        "trustee_user_id": admin.body["user"]["id"],
        "project_id": demo.body["project"]["id"],
        "impersonation": True,
        "roles": [{"name": "member"}],
    }


async def trusting(demo: Any, content: dict[str, Any], **changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = await demo.made("/OS-TRUST/trusts", "trust", **{**content, **changes})
    return made


def scope(trust: dict[str, Any]) -> dict[str, Any]:
    return {"OS-TRUST:trust": {"id": trust["id"]}}


@pytest.mark.parametrize("impersonation", [True, False])
async def test_trustee_gets_roles_of_trust_only(
    running: Any, demo: Any, trust_content: dict[str, Any], impersonation: bool
) -> None:
    trust = await trusting(demo, trust_content, impersonation=impersonation)
    delegate = await running.login("admin", **scope(trust))
    assert delegate.body["user"]["name"] == ("demo" if impersonation else "admin")
    assert delegate.body["project"]["name"] == "demo"
    assert [role["name"] for role in delegate.body["roles"]] == ["member", "reader"]
    assert delegate.body["OS-TRUST:trust"] == {
        "id": trust["id"],
        "impersonation": impersonation,
        "trustor_user": {"id": trust["trustor_user_id"]},
        "trustee_user": {"id": trust["trustee_user_id"]},
    }


async def test_only_trustee_uses_and_trustor_creates_trust(
    running: Any, admin: Any, demo: Any, trust_content: dict[str, Any]
) -> None:
    trust = await trusting(demo, trust_content)
    refused = await running.attempt({**running.auth("demo"), "scope": scope(trust)})
    assert refused.status_code == 403
    answer = await admin("POST", "/OS-TRUST/trusts", {"trust": trust_content})
    assert answer.status_code == 403


async def test_trust_ends_when_deleted_expired_or_ungrounded(
    running: Any, admin: Any, demo: Any, trust_content: dict[str, Any], clock: Any
) -> None:
    path = "/OS-TRUST/trusts/{}".format
    trust = await trusting(demo, trust_content)
    delegate = await running.login("admin", **scope(trust))
    assert (await demo("DELETE", path(trust["id"]))).status_code == 204
    assert (await delegate("GET", "/auth/catalog")).status_code == 401
    assert (await demo("GET", path(trust["id"]))).status_code == 404
    brief = await trusting(demo, trust_content, expires_at="2026-01-01T00:10:00.000000Z")
    delegate = await running.login("admin", **scope(brief))
    assert delegate.body["expires_at"] == "2026-01-01T00:10:00.000000Z"
    clock.advance(601)
    assert (await delegate("GET", "/auth/catalog")).status_code == 401
    assert (
        await running.attempt({**running.auth("admin"), "scope": scope(brief)})
    ).status_code == 403
    trust = await trusting(demo, trust_content)
    member = await admin.named("roles", "member")
    user, project = demo.body["user"]["id"], demo.body["project"]["id"]
    await admin("DELETE", f"/projects/{project}/users/{user}/roles/{member}")
    assert (
        await running.attempt({**running.auth("admin"), "scope": scope(trust)})
    ).status_code == 403


async def test_trust_has_limited_number_of_uses(
    running: Any, demo: Any, trust_content: dict[str, Any]
) -> None:
    trust = await trusting(demo, trust_content, remaining_uses=2)
    attempts = [
        await running.attempt({**running.auth("admin"), "scope": scope(trust)}) for _ in range(3)
    ]
    assert [a.status_code for a in attempts] == [201, 201, 403]
    shown = await demo.found(f"/OS-TRUST/trusts/{trust['id']}")
    assert shown["remaining_uses"] == 0


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"roles": []}, 403),
        ({"roles": [{"name": "admin"}]}, 403),
        ({"roles": [{"name": "nothing"}]}, 404),
        ({"trustee_user_id": "nobody"}, 404),
        ({"project_id": "nothing"}, 404),
        ({"impersonation": "yes"}, 400),
        ({"expires_at": "soon"}, 400),
        ({"expires_at": "2025-01-01T00:00:00Z"}, 400),
        ({"remaining_uses": 0}, 400),
        ({"redelegation_count": 9, "allow_redelegation": True}, 403),
    ],
)
async def test_bad_trusts_are_refused(
    demo: Any, trust_content: dict[str, Any], changes: dict[str, Any], status: int
) -> None:
    answer = await demo("POST", "/OS-TRUST/trusts", {"trust": {**trust_content, **changes}})
    assert answer.status_code == status


async def test_both_parties_see_a_trust_and_its_roles(
    running: Any, admin: Any, demo: Any, trust_content: dict[str, Any]
) -> None:
    trust = await trusting(demo, trust_content)
    path = f"/OS-TRUST/trusts/{trust['id']}"
    assert await demo.found(path) == trust
    assert [role["name"] for role in await demo.found(f"{path}/roles")] == ["member"]
    assert [r["id"] for r in trust["roles"]] == [
        (await demo.found(f"{path}/roles/{trust['roles'][0]['id']}"))["id"]
    ]
    mine = await demo.found(f"/OS-TRUST/trusts?trustor_user_id={trust['trustor_user_id']}")
    assert [t["id"] for t in mine] == [trust["id"]]
    assert (await demo("GET", "/OS-TRUST/trusts")).status_code == 403
    stranger = await running.domain_admin()
    assert (await stranger("GET", path)).status_code == 403


async def test_trust_is_redelegated_only_if_allowed(
    running: Any, admin: Any, demo: Any, trust_content: dict[str, Any]
) -> None:
    plain = await trusting(demo, trust_content)
    delegate = await running.login("admin", **scope(plain))
    again = {**trust_content, "trustee_user_id": trust_content["trustor_user_id"]}
    assert (await delegate("POST", "/OS-TRUST/trusts", {"trust": again})).status_code == 403
    open_ = await trusting(demo, trust_content, allow_redelegation=True)
    delegate = await running.login("admin", **scope(open_))
    made = await delegate.made("/OS-TRUST/trusts", "trust", **again)
    assert made["redelegated_trust_id"] == open_["id"]
    await demo("DELETE", f"/OS-TRUST/trusts/{open_['id']}")
    assert (await demo("GET", f"/OS-TRUST/trusts/{made['id']}")).status_code == 404


async def test_a_trust_token_is_not_exchanged(
    running: Any, demo: Any, trust_content: dict[str, Any]
) -> None:
    delegate = await running.login("admin", **scope(await trusting(demo, trust_content)))
    auth = {"identity": {"methods": ["token"], "token": {"id": delegate.token}}}
    assert (await running.attempt(auth)).status_code == 403


def credential_auth(**content: Any) -> dict[str, Any]:
    return {"identity": {"methods": ["application_credential"], "application_credential": content}}


async def test_an_application_credential_gives_tokens_with_its_roles(
    running: Any, demo: Any
) -> None:
    path = f"/users/{demo.body['user']['id']}/application_credentials"
    made = await demo.made(path, "application_credential", name="ci", roles=[{"name": "reader"}])
    by_id = credential_auth(id=made["id"], secret=made["secret"])
    by_name = credential_auth(
        name="ci", user={"name": "demo", "domain": {"id": "default"}}, secret=made["secret"]
    )
    for auth in (by_id, by_name):
        caller = await running.authenticated(auth)
        assert [role["name"] for role in caller.body["roles"]] == ["reader"]
        assert caller.body["project"]["name"] == "demo"
        assert caller.body["application_credential"] == {
            "id": made["id"],
            "name": "ci",
            "restricted": True,
        }
    listed = await demo.found(path)
    assert listed == [{name: value for name, value in made.items() if name != "secret"}]
    wrong = await running.attempt(credential_auth(id=made["id"], secret="x"))
    assert wrong.status_code == 401
    elsewhere = {**by_id, "scope": {"domain": {"id": "default"}}}
    assert (await running.attempt(elsewhere)).status_code == 401
    assert (await demo("DELETE", f"{path}/{made['id']}")).status_code == 204
    assert (await caller("GET", "/auth/catalog")).status_code == 401
    assert (await running.attempt(by_id)).status_code == 401


async def test_a_restricted_credential_cannot_make_other_delegations(
    running: Any, demo: Any, trust_content: dict[str, Any]
) -> None:
    path = f"/users/{demo.body['user']['id']}/application_credentials"
    for unrestricted, status in ((False, 403), (True, 201)):
        made = await demo.made(
            path, "application_credential", name=f"{unrestricted}", unrestricted=unrestricted
        )
        caller = await running.authenticated(credential_auth(id=made["id"], secret=made["secret"]))
        trust = await caller("POST", "/OS-TRUST/trusts", {"trust": trust_content})
        other = await caller("POST", path, {"application_credential": {"name": f"o{status}"}})
        assert (trust.status_code, other.status_code) == (status, status)


async def test_application_credentials_are_ones_own_and_named_once(admin: Any, demo: Any) -> None:
    path = f"/users/{demo.body['user']['id']}/application_credentials"
    content = {"application_credential": {"name": "x"}}
    assert (await admin("POST", path, content)).status_code == 403
    assert (await demo("POST", path, content)).status_code == 201
    assert (await demo("POST", path, content)).status_code == 409
    unknown = {"application_credential": {"name": "y", "roles": [{"name": "admin"}]}}
    assert (await demo("POST", path, unknown)).status_code == 400
    rules = [{"path": "/v2.1/servers", "method": "GET", "service": "compute"}]
    limited = {"application_credential": {"name": "z", "access_rules": rules}}
    refused = await demo("POST", path, limited)
    assert refused.status_code == 400
    assert "does not enforce" in refused.json()["error"]["message"]
    assert await demo.found(f"/users/{demo.body['user']['id']}/access_rules") == []


async def test_credential_with_access_rules_gets_no_token(
    app: Any, running: Any, demo: Any
) -> None:
    path = f"/users/{demo.body['user']['id']}/application_credentials"
    made = await demo.made(path, "application_credential", name="x")
    auth = credential_auth(id=made["id"], secret=made["secret"])
    assert (await running.attempt(auth)).status_code == 201
    known = app._cloud.tokens._directory.application_credentials
    rules = [{"id": "r", "path": "/v2.1/servers", "method": "GET", "service": "compute"}]
    known.put({**known.get(made["id"]), "access_rules": rules})  # as an earlier release kept it
    assert (await running.attempt(auth)).status_code == 401


async def test_delegated_token_sees_no_unlimited_key(
    running: Any, demo: Any, trust_content: dict[str, Any]
) -> None:
    user, project = demo.body["user"]["id"], demo.body["project"]["id"]
    keys = f"/users/{user}/credentials/OS-EC2"
    full = (await demo("POST", keys, {"tenant_id": project})).json()["credential"]
    full_id = hashlib.sha256(full["access"].encode()).hexdigest()
    made = await demo.made(
        f"/users/{user}/application_credentials",
        "application_credential",
        name="reads",
        roles=[{"name": "reader"}],
    )
    by_credential = await running.authenticated(
        credential_auth(id=made["id"], secret=made["secret"])
    )
    by_trust = await running.login("admin", **scope(await trusting(demo, trust_content)))
    blob = json.dumps({"access": full["access"], "secret": "chosen"})
    for delegate in (by_credential, by_trust):
        limited = (await delegate("POST", keys, {"tenant_id": project})).json()["credential"]
        listed = await delegate.found("/credentials")
        assert [json.loads(each["blob"])["access"] for each in listed] == [limited["access"]]
        assert [each["access"] for each in await delegate.found(keys)] == [limited["access"]]
        for method, body in (("GET", None), ("PATCH", {"credential": {"blob": blob}})):
            assert (await delegate(method, f"/credentials/{full_id}", body)).status_code == 403
        for method in ("GET", "DELETE"):
            assert (await delegate(method, f"{keys}/{full['access']}")).status_code == 404
    assert (await demo.found(f"{keys}/{full['access']}")) == full


async def test_unrestricted_credential_delegates_only_its_roles(
    running: Any, demo: Any, trust_content: dict[str, Any]
) -> None:
    path = f"/users/{demo.body['user']['id']}/application_credentials"
    made = await demo.made(
        path,
        "application_credential",
        name="reads",
        roles=[{"name": "reader"}],
        unrestricted=True,
    )
    caller = await running.authenticated(credential_auth(id=made["id"], secret=made["secret"]))
    for role, trust_status, credential_status in (("member", 403, 400), ("reader", 201, 201)):
        roles = [{"name": role}]
        trust = await caller(
            "POST", "/OS-TRUST/trusts", {"trust": {**trust_content, "roles": roles}}
        )
        content = {"name": role, "roles": roles}
        other = await caller("POST", path, {"application_credential": content})
        assert (trust.status_code, other.status_code) == (trust_status, credential_status)
    default = await caller.made(path, "application_credential", name="default")
    assert [role["name"] for role in default["roles"]] == ["reader"]
