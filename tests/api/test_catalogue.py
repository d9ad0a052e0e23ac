import httpx
import pytest

from stoker.clouds.web.templates import WebLimits

from .conftest import ClientFor, FakePolicy
from .fake_service import FakeService, no_engines


async def test_types_are_listed_by_name(client: httpx.AsyncClient, base: str) -> None:
    answer = await client.get(base + "/resource_types")
    assert answer.json() == {"resource_types": ["OS::Heat::None", "OS::Heat::Value"]}


async def test_types_that_the_policy_forbids_are_not_listed(
    client: httpx.AsyncClient, base: str, policy: FakePolicy
) -> None:
    policy.forbidden.add("resource_types:OS::Heat::None")
    answer = await client.get(base + "/resource_types")
    assert answer.json() == {"resource_types": ["OS::Heat::Value"]}


async def test_types_come_with_descriptions_on_demand(client: httpx.AsyncClient, base: str) -> None:
    query = {"with_description": "true", "name": "OS::Heat::N"}
    answer = await client.get(base + "/resource_types", params=query)
    assert answer.json() == {
        "resource_types": [{"resource_type": "OS::Heat::None", "description": "nothing"}]
    }


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("OS::Heat::V.*", ["OS::Heat::Value"]),
        ("OS::(Heat|Nova)::None$", ["OS::Heat::None"]),
        ("Value", []),
        ("(", []),
        ("(O+)+S::Heat::N", ["OS::Heat::None"]),
        ("(O+)+S$", []),
        ("O" * 5000, []),
    ],
)
async def test_name_is_a_regular_expression_of_bounded_cost(
    client: httpx.AsyncClient, base: str, pattern: str, names: list[str]
) -> None:
    answer = await client.get(base + "/resource_types", params={"name": pattern})
    assert answer.json() == {"resource_types": names}


async def test_unknown_support_status_is_400(client: httpx.AsyncClient, base: str) -> None:
    answer = await client.get(base + "/resource_types", params={"support_status": "FOO"})
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "Invalid"


async def test_type_is_shown(client: httpx.AsyncClient, base: str) -> None:
    answer = await client.get(base + "/resource_types/OS::Heat::None?with_description=zz")
    assert answer.json()["resource_type"] == "OS::Heat::None"
    assert (await client.get(base + "/resource_types/foo")).status_code == 404


async def test_type_that_policy_forbids_is_403(
    client: httpx.AsyncClient, base: str, policy: FakePolicy
) -> None:
    policy.forbidden.add("resource_types:OS::Keystone::User")
    answer = await client.get(base + "/resource_types/OS::Keystone::User")
    assert answer.status_code == 403


async def test_template_of_a_type_comes_in_both_dialects(
    client: httpx.AsyncClient, base: str
) -> None:
    path = base + "/resource_types/OS::Heat::None/template"
    assert (await client.get(path)).json()["dialect"] == "cfn"
    assert (await client.get(path, params={"template_type": "hot"})).json()["dialect"] == "hot"
    answer = await client.get(path, params={"template_type": "xml"})
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "HTTPBadRequest"


async def test_versions_and_functions_are_listed(client: httpx.AsyncClient, base: str) -> None:
    versions = (await client.get(base + "/template_versions")).json()["template_versions"]
    path = f"{base}/template_versions/{versions[0]['version']}/functions"
    assert (await client.get(path)).json()["template_functions"][0]["functions"] == "get_param"
    conditions = await client.get(path, params={"with_condition_func": "true"})
    assert conditions.json()["template_functions"][0]["functions"] == "not"
    assert (await client.get(base + "/template_versions/v9/functions")).status_code == 404


async def test_build_info_names_both_revisions(client: httpx.AsyncClient, base: str) -> None:
    assert (await client.get(base + "/build_info")).json() == {
        "api": {"revision": "unknown"},
        "engine": {"revision": "unknown"},
    }


async def test_engines_are_listed_and_none_is_503(client_for: ClientFor, base: str) -> None:
    services = (await client_for().get(base + "/services")).json()["services"]
    assert [s["status"] for s in services] == ["up"]
    assert (await client_for(engines=no_engines).get(base + "/services")).status_code == 503


async def test_template_url_is_fetched(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    body = {"stack_name": "s", "template_url": "http://web/t.yaml"}
    assert (await client.post(base + "/stacks", json=body)).status_code == 201
    request = service.asked[-1][1]
    assert request.template == "heat_template_version: 2021-04-16"
    assert request.template_file == "http://web/t.yaml"


@pytest.mark.parametrize(
    "url",
    [
        "abc",
        "file:///etc/passwd",
        "ftp://web/t",
        "http://[",
        "http://web/down",
        "http://web/no",
        "http://web/big",
    ],
)
async def test_template_url_that_gives_nothing_is_400(
    client: httpx.AsyncClient, base: str, service: FakeService, url: str
) -> None:
    answer = await client.post(base + "/stacks", json={"stack_name": "s", "template_url": url})
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "HTTPBadRequest"
    assert not service.asked


async def test_template_url_can_be_forbidden(client_for: ClientFor, base: str) -> None:
    body = {"stack_name": "s", "template_url": "http://web/t.yaml"}
    answer = await client_for(web=WebLimits(allowed=False)).post(base + "/stacks", json=body)
    assert answer.status_code == 400
