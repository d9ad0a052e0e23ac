"""The identity package against a whole identity service: that of the local cloud."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import httpx
import pytest

from localcloud.core.settings import ForeignService, Settings
from localcloud.fabric.no_fabric import NoFabric
from localcloud.identity.service import IdentityService
from localcloud.process.app import CloudApp, open_cloud
from stoker.config.loading import load
from stoker.engine.model.requests import Caller
from stoker.identity.delegation.stack_users import StackUsers
from stoker.identity.delegation.trusts import Trusts
from stoker.identity.ec2 import SignatureVerifier
from stoker.identity.grants import by_password
from stoker.identity.keystone import Keystone
from stoker.identity.policy import Policies
from stoker.identity.settings import IdentitySettings, User
from stoker.identity.tokens import Authenticator
from stoker.kernel.clock import SystemClock
from stoker.kernel.errors import RequestError
from stoker.schema.resource_type import Call, StackFacts

from .trust_records import Records

SERVICES = (
    ForeignService("orchestration", "http://stoker:8004/v1/%(project_id)s"),
    ForeignService("cloudformation", "http://stoker:8000/v1"),
)
STACK: Any = SimpleNamespace(
    id="11111111-1111-1111-1111-111111111111", root_id=None, user_project_id=None
)


@dataclass
class Site:
    """The service's clients of a cloud, and logins of the cloud's users."""

    keystone: Keystone
    authenticate: Authenticator
    verify: SignatureVerifier
    users: StackUsers
    passwords: dict[str, str]

    async def login(self, name: str) -> str:
        grant = await self.keystone.authenticate(
            by_password(User(name, self.passwords[name], project_name=name))
        )
        assert grant is not None
        return grant.token

    async def caller(self, name: str) -> Caller:
        caller = await self.authenticate({"x-auth-token": await self.login(name)}, None)
        assert caller is not None
        return caller


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    cloud_settings = Settings(data_dir=tmp_path, foreign_services=SERVICES)
    cloud = open_cloud(cloud_settings, NoFabric())
    app = CloudApp(cloud, [IdentityService(cloud)])
    async with app.running():
        found = json.loads((cloud_settings.cloud_dir / "credentials.json").read_text())
        passwords = {name: user["password"] for name, user in found["users"].items()}
        settings = IdentitySettings(
            found["auth_url"],
            User("stoker", passwords["stoker"], project_name="service"),
            region=found["region"],
            stack_domain_admin=User(
                "stoker_domain_admin",
                passwords["stoker_domain_admin"],
                domain_name="stoker",
                scope_domain_name="stoker",
            ),
        )
        clock, policies = SystemClock(), Policies(load())
        keystone = Keystone(settings, clock, httpx.ASGITransport(app=app))
        keystone.open()
        yield Site(
            keystone,
            Authenticator(keystone, clock, policies.is_admin),
            SignatureVerifier(keystone, policies.is_admin),
            StackUsers(keystone),
            passwords,
        )
        await keystone.close()
    cloud.store.close()


async def test_users_of_the_cloud_are_callers(site: Site) -> None:
    demo, admin = await site.caller("demo"), await site.caller("admin")
    assert (demo.user_name, demo.project_name, demo.is_admin) == ("demo", "demo", False)
    assert {"member", "reader"} <= demo.roles
    assert admin.is_admin
    assert await site.authenticate({"x-auth-token": "nonsense"}, None) is None


async def test_trust_is_made_and_removed(site: Site) -> None:
    demo = await site.caller("demo")
    trusts = Trusts(site.keystone, Records(), check_delays=(0.0,))
    credentials = await trusts.grant(demo)
    path = f"/OS-TRUST/trusts/{credentials['trust_id']}"
    assert (await site.keystone.request("GET", path, token=demo.token)).status_code == 200
    await trusts.revoke(credentials)
    await asyncio.gather(*trusts._tasks)
    assert (await site.keystone.request("GET", path, token=demo.token)).status_code == 404
    await trusts.revoke(credentials)
    await trusts.close()


async def test_stack_user_signals_by_token_or_signed_url(site: Site) -> None:
    demo = await site.caller("demo")
    signalling = site.users.of(STACK)

    def call(data: Any) -> Call:
        return Call(
            stack=StackFacts(STACK.id, "mystack", demo.project_id),
            name="h",
            resource_id="22222222-2222-2222-2222-222222222222",
            token="t",
            physical_name="p",
            properties={},
            started_at=0,
            now=time.time(),
            data=data,
        )

    def make() -> dict[str, Any]:
        lost = signalling.create_user(call({}))
        user = signalling.create_user(call({}))
        assert user["user_id"] == lost["user_id"]
        return {**user, **signalling.create_keypair(call(user), user["user_id"])}

    data = await asyncio.to_thread(make)
    token = await asyncio.to_thread(signalling.token, call(data))
    by_token = await site.authenticate({"x-auth-token": token}, None)
    assert by_token is not None
    assert by_token.is_stack_user
    assert by_token.project_id == data["project_id"]

    async def sender(method: str, url: str) -> Caller:
        parts = urlsplit(url)
        return await site.verify(
            method=method,
            host=parts.netloc,
            path=unquote(parts.path),
            params=dict(parse_qsl(parts.query)),
            headers={},
            body=b"{}",
        )

    url = await asyncio.to_thread(signalling.presigned_url, call(data), "waitcondition")
    assert (await sender("PUT", url)).user_id == data["user_id"]
    for method, changed in (("POST", url), ("PUT", url.replace("resources/h", "resources/i"))):
        with pytest.raises(RequestError) as refused:
            await sender(method, changed)
        assert refused.value.error_type.name == "AccessDenied"

    await asyncio.to_thread(signalling.delete_user, call(data))
    await asyncio.to_thread(site.users.close, STACK)
    with pytest.raises(RequestError):
        await sender("PUT", url)
