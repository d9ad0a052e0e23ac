"""Hostile requests from a seed: every address, method and role, with anything in their parts."""

from __future__ import annotations

import copy
import http.client
import json
import random
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

from stoker.api.rest.routes import ROUTES


def _each(words: str) -> list[str]:
    return words.split()


METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PROPFIND")
LONG = "9" * 5000
DEEP = "[" * 20_000
WORDS: tuple[Any, ...] = (
    "",
    "0",
    "-1",
    LONG,
    "1e999",
    "²",
    "٣",
    "true",
    "null",
    "None",
    "%00",
    "\0",
    "a\0b",
    "\ud800",
    "\ufffe",
    "🦀" * 300,
    "a" * 3000,
    "../../etc/passwd",
    "..",
    ".",
    "%2e%2e%2f",
    "'; DROP TABLE stacks; --",
    "{{7*7}}",
    "${jndi:ldap://x}",
    "a/b",
    "a b",
    "a?b#c",
    "\r\nX: y",
    "<script>",
    "arn:openstack:heat::p:stacks/a/b",
    "arn%3Aopenstack%3Aheat%3A%3Ap%3Astacks%2Fa%2Fb",
    "*",
    "(a+)+$",
    "http://127.0.0.1:1/",
    "file:///etc/passwd",
    ",",
    "," * 500,
)
VALUES: tuple[Any, ...] = (
    *WORDS,
    None,
    True,
    False,
    0,
    -1,
    2**31,
    2**63,
    10**400,
    1.5,
    -0.0,
    1e308,
    [],
    {},
    [None],
    {"": ""},
    {"a": {"b": [1, {"c": None}]}},
    [[[[[[[[[[]]]]]]]]]],
    {"get_param": "x"},
    {"get_resource": "a"},
    {"get_attr": ["a", {"get_attr": []}]},
    {"str_replace": {"template": 1, "params": []}},
    {"repeat": {"for_each": {"x": list(range(50))}, "template": "x"}},
    {"yaql": {"expression": "$.foo", "data": 1}},
    {"if": [1, 2]},
    {"Fn::Join": [1]},
    {"Ref": {}},
    {1: 2} and {"1": 2},
    "a: &a [*a]",
    "- [" * 100,
    "heat_template_version: 2018-08-31\nresources: {a: {type: OS::Heat::None}}",
)
TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "description": "d",
    "parameters": {
        "x": {
            "type": "string",
            "default": "abc",
            "label": "l",
            "hidden": True,
            "constraints": [{"length": {"min": 1, "max": 9}}, {"allowed_pattern": "[a-z]*"}],
        },
        "n": {"type": "number", "default": 3, "constraints": [{"range": {"min": 1}}]},
    },
    "conditions": {"c": {"equals": [{"get_param": "x"}, "abc"]}},
    "resources": {
        "a": {
            "type": "OS::Heat::RandomString",
            "properties": {"length": 8},
            "depends_on": [],
            "condition": "c",
            "metadata": {"m": 1},
            "deletion_policy": "Delete",
        },
        "v": {"type": "OS::Heat::Value", "properties": {"value": {"get_attr": ["a", "value"]}}},
        "g": {
            "type": "OS::Heat::ResourceGroup",
            "properties": {
                "count": 2,
                "resource_def": {"type": "OS::Heat::None", "properties": {"i": "%index%"}},
            },
        },
    },
    "outputs": {"o": {"value": {"get_attr": ["v", "value"]}, "description": "d"}},
}
STACK = {
    "stack_name": "fuzz",
    "template": TEMPLATE,
    "parameters": {"x": "abc"},
    "environment": {
        "parameters": {"n": 2},
        "parameter_defaults": {},
        "resource_registry": {"A::B": "OS::Heat::None", "resources": {"a": {"hooks": []}}},
        "event_sinks": [],
        "encrypted_param_names": [],
    },
    "files": {"a.yaml": "x"},
    "timeout_mins": 5,
    "disable_rollback": True,
    "tags": "a,b",
    "clear_parameters": [],
    "existing": False,
    "template_url": None,
    "environment_files": [],
}
BODIES: tuple[Any, ...] = (
    STACK,
    STACK,
    STACK,
    {"suspend": None},
    {"cancel_update": None},
    {"mark_unhealthy": True, "resource_status_reason": "r"},
    {"status": "SUCCESS", "id": "1", "data": "d", "reason": "r"},
    {"unset_hook": "pre-create"},
    {"name": "n", "config": "c", "inputs": [{"name": "a"}]},
)
QUERIES = _each(
    "limit marker sort_keys sort_dir show_deleted show_nested show_hidden with_count "
    "global_tenant tags tags_any not_tags not_tags_any id status name action tenant "
    "username owner_id stack_name stack_status disable_rollback timeout_mins parent "
    "nested_depth with_detail type physical_resource_id resource_status "
    "resource_action resource_name resource_type with_attr support_status version "
    "with_description template_type with_condition_func resolve_outputs ignore_errors "
    "ContentType Signature AWSAccessKeyId X-Amz-Signature X-Amz-Credential Timestamp "
    "server_id sort_key page_reverse fields changes-since all_tenants domain_id "
)
CLOUD = (
    "/",
    "/identity",
    *(
        f"/identity/v3/{kind}"
        for kind in _each(
            "auth/tokens auth/catalog auth/projects users projects domains roles groups "
            "services endpoints regions credentials role_assignments OS-TRUST/trusts "
            "ec2tokens users/{id} users/{id}/password projects/{id} projects/{id}/tags "
            "roles/{id} users/{id}/application_credentials users/{id}/credentials/OS-EC2 "
            "OS-TRUST/trusts/{id} projects/{id}/users/{id}/roles/{id} domains/{id} "
            "role_inferences registered_limits "
        )
    ),
    *(
        f"/compute/v2.1/{kind}"
        for kind in _each(
            "servers servers/detail servers/{id} servers/{id}/action servers/{id}/metadata "
            "servers/{id}/os-interface servers/{id}/os-volume_attachments flavors "
            "flavors/{id} flavors/{id}/os-extra_specs os-keypairs os-keypairs/{id} "
            "os-server-groups limits os-quota-sets/{id} os-hypervisors os-aggregates "
            "os-availability-zone os-services servers/{id}/os-instance-actions "
            "servers/{id}/tags "
        )
    ),
    *(
        f"/network/v2.0/{kind}"
        for kind in _each(
            "networks networks/{id} subnets subnets/{id} ports ports/{id} routers "
            "routers/{id} routers/{id}/add_router_interface floatingips floatingips/{id} "
            "security-groups security-group-rules security-groups/{id} subnetpools "
            "address-scopes rbac-policies quotas quotas/{id} extensions address-groups "
            "networks/{id}/tags "
        )
    ),
    *(
        f"/image/v2/{kind}"
        for kind in _each(
            "images images/{id} images/{id}/file images/{id}/members images/{id}/tags/{id} "
            "schemas/image schemas/images "
        )
    ),
)
CLOUD_BODIES: tuple[Any, ...] = (
    {
        "auth": {
            "identity": {
                "methods": ["password"],
                "password": {"user": {"id": "x", "password": "p", "domain": {"id": "default"}}},
            },
            "scope": {"project": {"id": "x"}},
        }
    },
    {"user": {"name": "n", "password": "p", "domain_id": "default", "enabled": True}},
    {"project": {"name": "n", "domain_id": "default", "tags": []}},
    {"trust": {"trustor_user_id": "x", "trustee_user_id": "y", "roles": [{"name": "member"}]}},
    {"server": {"name": "n", "flavorRef": "1", "imageRef": "x", "networks": "auto"}},
    {"os-stop": None},
    {"resize": {"flavorRef": "2"}},
    {"flavor": {"name": "n", "ram": 1, "vcpus": 1, "disk": 1}},
    {"network": {"name": "n", "admin_state_up": True, "mtu": 1500}},
    {"subnet": {"network_id": "x", "cidr": "10.0.0.0/24", "ip_version": 4, "allocation_pools": []}},
    {"port": {"network_id": "x", "fixed_ips": [{"ip_address": "10.0.0.5"}], "name": "n"}},
    {"router": {"name": "n", "external_gateway_info": {"network_id": "x"}}},
    {"floatingip": {"floating_network_id": "x"}},
    {"security_group_rule": {"security_group_id": "x", "direction": "ingress", "protocol": "tcp"}},
    {"name": "n", "container_format": "bare", "disk_format": "raw", "min_disk": 0},
    [{"op": "replace", "path": "/name", "value": "x"}],
)


@dataclass(frozen=True)
class Hostile:
    """One request."""

    role: str
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def __str__(self) -> str:
        start = {k: v[:80] for k, v in self.headers.items() if k != "X-Auth-Token"}
        return f"{self.role}: {self.method} {self.path[:300]} {start} {self.body[:600]!r}"


@dataclass
class Fuzzer:
    """Makes requests; the same ones from the same seed."""

    seed: int
    project: str
    others: Sequence[str]  # ids, names and paths of objects, own and of other projects
    random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def service(self, count: int) -> Iterator[Hostile]:
        """Requests to the service."""
        for _ in range(count):
            kind = self.random.random()
            if kind < 0.85:
                route = self.random.choice(ROUTES)
                project = self.project if self.random.random() < 0.9 else self._word()
                path = f"/v1/{project}{self._filled(re.sub(r':[a-z]+}', '}', route.path))}"
                method = route.method if self.random.random() < 0.8 else self._method()
            elif kind < 0.95:
                where = self.random.choice(("waitcondition", "signal"))
                path = f"/cfn/v1/{where}/{self._word()}"
                method = self.random.choice(("PUT", "POST"))
            else:
                path = self.random.choice(("/", "/v1", "/cfn", "/healthcheck", "/", "/v2/"))
                path += self._word()
                method = self._method()
            yield self._request(method, path, BODIES)

    def cloud(self, count: int) -> Iterator[Hostile]:
        """Requests to the local cloud."""
        for _ in range(count):
            path = self._filled(self.random.choice(CLOUD))
            method = self.random.choice(("GET", "POST", "PUT", "PATCH", "DELETE", self._method()))
            yield self._request(method, path, CLOUD_BODIES)

    def _request(self, method: str, path: str, bodies: Sequence[Any]) -> Hostile:
        if self.random.random() < 0.5:
            pairs = [
                f"{self.random.choice(QUERIES)}={self._word()}"
                for _ in range(self.random.choice((1, 1, 2, 4, 40)))
            ]
            path += "?" + "&".join(pairs)
        headers = {"Content-Type": "application/json"}
        while self.random.random() < 0.2:
            name = self.random.choice(
                _each(
                    "Accept Content-Type X-Forwarded-Host X-Auth-User X-Auth-Key Authorization"
                    " Host X-Region-Name OpenStack-API-Version X-OpenStack-Nova-API-Version"
                    " Range If-Match X-Auth-Token X-Subject-Token Expect Transfer-Encoding- "
                )
            )
            text = str(self.random.choice(WORDS)).encode("utf-8", "replace").decode("latin-1")
            headers[name] = re.sub(r"[\r\n\0]", "", text)
        role = self.random.choice(("member", "member", "member", "reader", "admin", "other", ""))
        return Hostile(role, method, path, headers, self._body(method, bodies))

    def _body(self, method: str, bodies: Sequence[Any]) -> bytes:
        if method in ("GET", "HEAD", "OPTIONS") and self.random.random() < 0.9:
            return b""
        kind = self.random.random()
        if kind < 0.1:
            raw = (
                DEEP,
                '{"a":' * 5000,
                "{",
                '{"a": 1e999}',
                '{"a": NaN}',
                "\xff",
                '{"a":"\\ud800"}',
            )
            return self.random.choice(raw).encode("latin-1")
        document = copy.deepcopy(self.random.choice(bodies))
        for _ in range(self.random.choice((0, 1, 1, 1, 2, 3))):
            document = self._spoilt(document)
        if isinstance(document, dict) and isinstance(document.get("template"), dict):
            document["stack_name"] = document.get("stack_name", "fuzz")
            if self.random.random() < 0.2:
                document["template"] = json.dumps(document["template"])
        return json.dumps(document).encode()

    def _spoilt(self, document: Any) -> Any:
        """The document with something hostile at one place."""
        places = list(_places(document))
        if not places:
            return document
        container, key = self.random.choice(places)
        action = self.random.random()
        value = copy.deepcopy(self.random.choice(VALUES))
        if action < 0.7:
            container[key] = value
        elif action < 0.85 and isinstance(container, dict):
            container[str(self.random.choice(WORDS))] = value
        else:
            del container[key]
        return document

    def _filled(self, path: str) -> str:
        return re.sub(r"\{[a-z_]+\}", lambda _: self._word(), path)

    def _word(self) -> str:
        """Something for a path or a query: known, or hostile."""
        if self.random.random() < 0.6:
            return quote(self.random.choice(self.others), safe="/:")
        word = str(self.random.choice(WORDS))
        return quote(word.encode("utf-8", "surrogatepass"), safe=self.random.choice(("", "/%:")))

    def _method(self) -> str:
        return self.random.choice(METHODS)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)


@dataclass
class Sender:
    """Sends requests over one connection; records forbidden answers."""

    url: str
    tokens: dict[str, str]
    secret: str  # texts that only their owner and admins may see
    slowest: float = 2.0
    faults: list[str] = field(default_factory=list)
    _connection: http.client.HTTPConnection | None = None

    def send(self, request: Hostile) -> int:
        """The status of the answer; 0 where the connection was closed without one."""
        status, content, seconds = self._answer(request)
        if seconds > self.slowest:
            status, content, seconds = self._answer(request)  # the machine may have been busy
        if status >= 500:
            self.faults.append(f"status {status}: {request}\n    {content[:500]!r}")
        if seconds > self.slowest:
            self.faults.append(f"{seconds:.1f} s: {request}")
        if request.role not in ("other", "admin") and self.secret.encode() in content:
            self.faults.append(f"tells another project's data: {request}")
        return status

    def _answer(self, request: Hostile) -> tuple[int, bytes, float]:
        headers = dict(request.headers)
        if request.role and "X-Auth-Token" not in headers:
            headers["X-Auth-Token"] = self.tokens[request.role]
        if self._connection is None:
            address = urlsplit(self.url)
            assert address.hostname is not None
            self._connection = http.client.HTTPConnection(
                address.hostname, address.port, timeout=60
            )
        started = time.monotonic()
        try:
            self._connection.putrequest(
                request.method, request.path, skip_host="Host" in headers, skip_accept_encoding=True
            )
            for name, value in headers.items():
                self._connection.putheader(name, value.encode("latin-1", "replace"))
            self._connection.putheader("Content-Length", str(len(request.body)))
            self._connection.endheaders(request.body)
            answer = self._connection.getresponse()
            content = answer.read()
            if answer.will_close:
                self.close()
            return answer.status, content, time.monotonic() - started
        except (http.client.HTTPException, ConnectionError, ValueError):
            self.close()
            return 0, b"", time.monotonic() - started

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
