"""Stacks that stacks make in another region, and in another cloud with credentials of a secret."""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Iterator
from typing import Any

import openstack
import pytest
from openstack.connection import Connection

from tests.recovery.service import Service, until

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]
INNER = """
heat_template_version: 2018-08-31
parameters: {length: {type: number, default: 7}}
resources:
  text: {type: "OS::Heat::RandomString", properties: {length: {get_param: length}}}
outputs:
  text: {value: {get_attr: [text, value]}}
"""
EARLIER = {
    "heat_template_version": "2018-08-31",
    "resources": {"network": {"type": "OS::Neutron::Net"}},
}


def outer(context: dict[str, Any], **parameters: Any) -> dict[str, Any]:
    properties = {"context": context, "template": INNER, "parameters": parameters}
    return {
        "heat_template_version": "2018-08-31",
        "resources": {"inner": {"type": "OS::Heat::Stack", "properties": properties}},
        "outputs": {"text": {"value": {"get_attr": ["inner", "outputs", "text"]}}},
    }


@pytest.fixture(scope="module")
def admin(service: Service) -> Iterator[Connection]:
    with opened(service, "stoker-admin") as connection:
        yield connection


@contextlib.contextmanager
def opened(service: Service, name: str) -> Iterator[Connection]:
    connection = openstack.connection.Connection(
        region_name="RegionOne", auth=service.credentials(name), identity_api_version="3"
    )
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def second_region(service: Service, admin: Connection) -> Iterator[str]:
    """A region whose orchestration service is the same one.

    It is added while stacks of the project are there, as operators do it: the service has logged
    in for them with a catalog that lacks the region.
    """
    with opened(service, "stoker") as connection:
        api = connection.orchestration
        made = api.create_stack(name="earlier", template=EARLIER)
        api.wait_for_status(api.get_stack(made.id), "CREATE_COMPLETE", interval=0.1, wait=60)
    region = admin.identity.create_region(id="Second")
    found = next(admin.identity.services(type="orchestration"))
    url = f"{service.url}/v1/%(tenant_id)s"
    made = admin.identity.create_endpoint(
        service_id=found.id, interface="public", url=url, region_id=region.id
    )
    yield region.id
    admin.identity.delete_endpoint(made)
    admin.identity.delete_region(region)


@pytest.fixture(scope="module")
def cloud(service: Service, second_region: str) -> Iterator[Connection]:
    """A connection whose token has both regions in its catalog."""
    with opened(service, "stoker") as connection:
        yield connection


def secret(cloud: Connection, text: str) -> str:
    """The id of a secret that holds the text."""
    made = cloud.key_manager.create_secret(
        name="login", payload=text, payload_content_type="text/plain"
    )
    return str(made.secret_ref).rpartition("/")[2]


def lived(cloud: Connection, name: str, context: dict[str, Any], place: Connection) -> None:
    """Create, change and delete a stack, and check its object in the other cloud each time."""
    api = cloud.orchestration
    made = api.create_stack(name=name, template=outer(context))
    ended = {"failures": ["CREATE_FAILED", "UPDATE_FAILED"], "interval": 0.1, "wait": 60}
    stack = api.wait_for_status(api.get_stack(made.id), "CREATE_COMPLETE", **ended)
    assert [len(output["output_value"]) for output in stack.outputs] == [7]
    inner = next(iter(api.resources(stack))).physical_resource_id
    found = place.orchestration.get_stack(inner)
    assert found.status == "CREATE_COMPLETE"
    assert found.name.startswith(f"{name}-inner-")
    api.update_stack(stack, template=outer(context, length=9))
    stack = api.wait_for_status(api.get_stack(made.id), "UPDATE_COMPLETE", **ended)
    assert [len(output["output_value"]) for output in stack.outputs] == [9]
    assert next(iter(api.resources(stack))).physical_resource_id == inner
    api.delete_stack(stack)
    until(lambda: not list(api.stacks(name=name)), f"{name} is gone", 60)
    until(lambda: not list(place.orchestration.stacks(id=inner)), "the inner stack is gone", 60)


def test_a_stack_lives_in_another_region(cloud: Connection, second_region: str) -> None:
    lived(cloud, "abroad", {"region_name": second_region}, cloud)


@pytest.mark.parametrize("kind", ["v3applicationcredential", "v3password"])
def test_a_stack_lives_in_another_cloud(
    service: Service, cloud: Connection, admin: Connection, kind: str
) -> None:
    known = service.credentials("stoker-admin")
    auth = {"auth_url": known["auth_url"]}
    if kind == "v3password":
        auth |= {key: known[key] for key in ("username", "password", "project_name")}
        auth |= {"user_domain_name": "Default", "project_domain_name": "Default"}
    else:
        user = admin.session.get_user_id()
        made = admin.identity.create_application_credential(user, name="abroad", unrestricted=True)
        auth |= {
            "application_credential_id": made.id,
            "application_credential_secret": made.secret,
        }
    held = secret(cloud, json.dumps({"auth_type": kind, "auth": auth}))
    lived(cloud, kind, {"credential_secret_id": held, "region_name": "RegionOne"}, admin)
    if kind == "v3applicationcredential":
        admin.identity.delete_application_credential(user, made)


REFUSED = {
    "nothing there": (None, "there is no secret"),
    "no JSON": ("x", "must hold JSON"),
    "too deep": ("[" * 9000, "must hold JSON"),
    "another kind": (
        json.dumps({"auth_type": "v3oidcpassword", "auth": {"auth_url": "http://x"}}),
        "auth_type other than",
    ),
    "no address": (json.dumps({"auth_type": "v3password", "auth": {}}), '"auth_url"'),
    "inside the network": (
        json.dumps(
            {"auth_type": "v3token", "auth": {"auth_url": "http://10.1.2.3/v3", "token": "t"}}
        ),
        "other_clouds_allowed_hosts",
    ),
    "too little": (
        json.dumps({"auth_type": "v3token", "auth": {"auth_url": "http://10.1.2.3/v3"}}),
        "lacks something",
    ),
    "a number": (
        json.dumps({"auth_type": "v3token", "auth": {"auth_url": 1, "token": "t"}}),
        "not text",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_unusable_credentials_are_refused_immediately(cloud: Connection, case: str) -> None:
    held, told = REFUSED[case]
    key = str(uuid.uuid4()) if held is None else secret(cloud, held)
    template = outer({"credential_secret_id": key})
    with pytest.raises(openstack.exceptions.BadRequestException) as refusal:
        cloud.orchestration.create_stack(name="refused", template=template)
    assert told in str(refusal.value.details)
    assert not list(cloud.orchestration.stacks(name="refused"))


def test_region_without_service_is_refused_immediately(cloud: Connection) -> None:
    with pytest.raises(openstack.exceptions.BadRequestException) as refusal:
        cloud.orchestration.create_stack(name="dark", template=outer({"region_name": "DARKHOLE"}))
    assert (
        'Cannot establish connection to Heat endpoint at region "DARKHOLE" due to "public endpoint'
        ' for orchestration service in DARKHOLE region not found"' in str(refusal.value.details)
    )
