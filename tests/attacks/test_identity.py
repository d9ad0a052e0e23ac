"""Attacks on the users of the local cloud, by another user and by a guest."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import uuid
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from stoker.kernel.values import replace
from tests.attacks.arena import Arena
from tests.isolation.people import Person, admin

SIGNALLED = {
    "heat_template_version": "2018-08-31",
    "resources": {"h": {"type": "OS::Heat::WaitConditionHandle"}},
    "outputs": {"cli": {"value": {"get_attr": ["h", "curl_cli"]}}},
}


class Cloud:
    """The local cloud of an arena as one person."""

    def __init__(self, arena: Arena, person: Person) -> None:
        self.person, self._url = person, arena.service.cloud_url

    def ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        headers = {"X-Auth-Token": self.person.token, "Client-ID": str(uuid.UUID(int=1))}
        url = self._url + path
        return httpx.request(method, url, json=body, headers=headers, timeout=60)

    def user(self) -> str:
        """The id of the person."""
        headers = {"X-Auth-Token": self.person.token, "X-Subject-Token": self.person.token}
        answer = httpx.get(f"{self._url}/identity/v3/auth/tokens", headers=headers, timeout=60)
        return str(answer.json()["token"]["user"]["id"])

    def credential(self, project: str) -> tuple[str, httpx.Response]:
        """Ask for an EC2 credential with a known secret; returns its access key and the answer."""
        access = uuid.uuid4().hex
        blob = json.dumps({"access": access, "secret": "b"})
        content = {"type": "ec2", "user_id": self.user(), "project_id": project, "blob": blob}
        answer = self.ask("POST", "/identity/v3/credentials", {"credential": content})
        return access, answer

    def trade(self, access: str) -> httpx.Response:
        """Ask for a token for a signature made with the secret."""
        params = {"AWSAccessKeyId": access, "SignatureMethod": "HmacSHA256"}
        params["SignatureVersion"] = "2"
        query = "&".join(f"{name}={quote(params[name], safe='-_.~')}" for name in sorted(params))
        digest = hmac.new(b"b", f"GET\nh\n/\n{query}".encode(), hashlib.sha256).digest()
        content = {"access": access, "signature": base64.b64encode(digest).decode(), "host": "h"}
        content |= {"verb": "GET", "path": "/", "params": params}
        return self.ask("POST", "/identity/v3/ec2tokens", {"credentials": content})


def guest(arena: Arena, name: str) -> Person:
    """The user of a stack, with the token that every server of the stack holds."""
    attacker = arena.attacker
    stack_id = attacker.create(name, SIGNALLED)
    answer = attacker.ask("GET", f"/stacks/{name}/{stack_id}")
    [cli] = [each["output_value"] for each in answer.json()["stack"]["outputs"]]
    token = re.search(r"X-Auth-Token: (\S+)'", cli)
    assert token is not None
    found = replace(attacker, token=token[1])
    headers = {"X-Auth-Token": found.token, "X-Subject-Token": found.token}
    url = f"{arena.service.cloud_url}/identity/v3/auth/tokens"
    project = httpx.get(url, headers=headers, timeout=60).json()["token"]["project"]["id"]
    return replace(found, project=project)


@pytest.mark.parametrize("who", ["member", "guest"])
def test_credential_makes_no_caller_another_user(arena: Arena, who: str) -> None:
    person = arena.attacker if who == "member" else guest(arena, "credentials")
    attacker, ruler = Cloud(arena, person), Cloud(arena, admin(arena.service))
    other = Cloud(arena, arena.other)
    victims = [(ruler.user(), ruler.person.project), (other.user(), other.person.project)]
    with arena.attacked(seconds=60):
        for user, project in victims:
            access, refused = attacker.credential(project)
            assert refused.status_code == 403
            access, answer = attacker.credential(person.project)
            if who == "guest":
                assert answer.status_code == 403
                continue
            path = f"/identity/v3/credentials/{answer.json()['credential']['id']}"
            for changes in (
                {"user_id": user},
                {"project_id": project},
                {"user_id": user, "project_id": project},
                {"blob": json.dumps({"access": access, "secret": "b", "trust_id": "x"})},
            ):
                changed = attacker.ask("PATCH", path, {"credential": changes})
                assert changed.status_code in (400, 403), changes
            assert attacker.trade(access).status_code == 403
            traded = ruler.trade(access)
            assert traded.json()["token"]["user"]["id"] == attacker.user()
            assert traded.json()["token"]["project"]["id"] == person.project


def test_guest_makes_nothing_in_the_cloud_but_messages(arena: Arena) -> None:
    cloud = Cloud(arena, guest(arena, "guest"))
    project, user = cloud.person.project, cloud.user()
    trust = {"trustor_user_id": user, "trustee_user_id": user, "impersonation": True}
    trust |= {"project_id": project, "roles": [{"name": "heat_stack_user"}]}
    with arena.attacked(seconds=60):
        for method, path, body in (
            ("POST", "/network/v2.0/networks", {"network": {"name": "n"}}),
            ("POST", "/network/v2.0/security-groups", {"security_group": {"name": "g"}}),
            ("POST", "/image/v2/images", {"name": "x"}),
            ("POST", f"/volume/v3/{project}/volumes", {"volume": {"size": 1}}),
            ("PUT", f"/v1/AUTH_{project}/c", None),
            ("POST", "/key-manager/v1/secrets", {"name": "x"}),
            ("POST", "/dns/v2/zones", {"name": "example.org.", "email": "a@b.c"}),
            ("POST", "/metric/v1/metric", {"name": "x", "archive_policy_name": "low"}),
            ("POST", "/alarming/v2/alarms", {"name": "x", "type": "event", "event_rule": {}}),
            ("POST", "/workflow/v2/action_executions", {"name": "std.http", "input": "{}"}),
            ("POST", "/compute/v2.1/os-keypairs", {"keypair": {"name": "k"}}),
            ("GET", "/compute/v2.1/servers", None),
            ("POST", "/share/v2/shares", {"share": {"share_proto": "NFS", "size": 1}}),
            ("POST", "/identity/v3/OS-TRUST/trusts", {"trust": trust}),
            ("POST", f"/identity/v3/users/{user}/application_credentials",
             {"application_credential": {"name": "a"}}),
        ):  # fmt: skip
            answer = cloud.ask(method, path, body)
            assert answer.status_code == 403, (method, path, answer.status_code, answer.text)
        queue = "/messaging/v2/queues/q"
        assert cloud.ask("PUT", queue, {}).status_code == 201
        content = {"messages": [{"body": 1, "ttl": 60}]}
        assert cloud.ask("POST", f"{queue}/messages", content).status_code == 201
        address = {"subscriber": "http://169.254.169.254/", "ttl": 60}
        assert cloud.ask("POST", f"{queue}/subscriptions", address).status_code == 403
