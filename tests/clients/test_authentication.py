"""Requests that prove in other ways than by a token of the user who sends them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from heatclient import exc
from heatclient.client import Client

from tests.identity.test_backends import install
from tests.isolation.people import demo
from tests.recovery.service import Service, until

# The library warns of its own code; that is none of the service's business.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]

TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "resources": {"a": {"type": "OS::Heat::RandomString"}, "net": {"type": "OS::Neutron::Net"}},
    "outputs": {"o": {"value": {"get_attr": ["a", "value"]}}},
}


@pytest.fixture(scope="module")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service in standalone mode without trusts, with a package that believes a header."""
    packages = tmp_path_factory.mktemp("packages")
    install(packages)
    running = Service(
        tmp_path_factory.mktemp("standalone") / "data",
        configuration="[DEFAULT]\nauthentication_backend = headers\n"
        "deferred_auth_method = password\n"
        "[paste_deploy]\nflavor = standalone\n",
        environment={"PYTHONPATH": str(packages)},
    )
    running.start()
    yield running
    running.stop()


def heat(service: Service, password: str | None = None) -> Any:
    """heatclient as it is used with a service in standalone mode: there is no token."""
    known = service.credentials("stoker")
    project = demo(service).project
    return Client(
        "1",
        endpoint=f"{service.url}/v1/{project}",
        username=known["username"],
        password=password or known["password"],
        auth_url=known["auth_url"],
        include_pass=True,
    )


def test_heatclient_manages_a_stack_with_a_password(standalone: Service) -> None:
    client = heat(standalone)
    stack_id = client.stacks.create(stack_name="by-password", template=TEMPLATE)["stack"]["id"]
    until(lambda: client.stacks.get(stack_id).stack_status == "CREATE_COMPLETE", "it is made")
    [stack] = client.stacks.list()
    assert stack.stack_owner == standalone.credentials("stoker")["username"]
    assert len(client.stacks.output_show(stack_id, "o")["output"]["output_value"]) == 32
    assert [resource.resource_name for resource in client.resources.list(stack_id)] == ["a", "net"]
    client.stacks.delete(stack_id)
    until(lambda: not list(client.stacks.list()), "it is deleted")


def test_the_password_is_what_a_stack_acts_with(standalone: Service) -> None:
    person, body = demo(standalone), {"stack_name": "kept", "template": TEMPLATE}
    refused = person.ask("POST", "/stacks", body)
    assert refused.status_code == 400
    assert refused.json()["error"]["type"] == "MissingCredentialError"
    headers = {"X-Auth-Token": person.token, "X-Auth-Key": "wrong"}
    address = f"{person.url}/v1/{person.project}/stacks"
    assert httpx.post(address, json=body, headers=headers, timeout=60).status_code == 403


def test_a_wrong_password_is_refused(standalone: Service) -> None:
    with pytest.raises(exc.HTTPUnauthorized):
        list(heat(standalone, "wrong").stacks.list())


def test_tokens_count_as_well(standalone: Service) -> None:
    assert demo(standalone).ask("GET", "/stacks").status_code == 200


def test_operator_package_authenticates_a_request(standalone: Service) -> None:
    address = f"{standalone.url}/v1/{demo(standalone).project}/stacks"
    trusted = {"X-Trusted-User": "ann"}
    answer = httpx.get(address, headers=trusted, timeout=30)
    # the package gives everybody the role of stack users
    assert answer.status_code == 403
    assert "stacks:index" in answer.json()["error"]["message"]
    assert httpx.get(address, timeout=30).status_code == 401


def test_passwords_do_not_count_unless_they_are_allowed(service: Service) -> None:
    with pytest.raises(exc.HTTPUnauthorized):
        list(heat(service).stacks.list())
