"""A project cannot see, change or detect the stacks of another project."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.isolation.people import Person, admin, demo, newcomer, rows
from tests.recovery.service import Service

TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "parameters": {"word": {"type": "string", "hidden": True, "default": "none"}},
    "resources": {
        "a": {"type": "OS::Heat::RandomString"},
        "b": {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "word"}}},
    },
    "outputs": {"o": {"value": {"get_attr": ["a", "value"]}}},
}
MARKER = "marker-of-the-owner"


@dataclass(frozen=True)
class Owned:
    """A stack, its owner, and a stranger."""

    owner: Person
    stranger: Person
    name: str
    id: str
    event: str

    @property
    def arn(self) -> str:
        """The stack's ARN."""
        return f"arn:openstack:heat::{self.owner.project}:stacks/{self.name}/{self.id}"


@pytest.fixture(scope="module")
def owned(service: Service) -> Owned:
    owner, stranger = demo(service), newcomer(service, "stranger")
    stack_id = owner.create(MARKER, TEMPLATE, tags=MARKER)
    events = owner.ask("GET", f"/stacks/{MARKER}/{stack_id}/resources/a/events").json()["events"]
    return Owned(owner, stranger, MARKER, stack_id, events[0]["id"])


ROUTES = (
    ("GET", ""),
    ("PUT", ""),
    ("PATCH", ""),
    ("DELETE", ""),
    ("PUT", "/preview"),
    ("PATCH", "/preview"),
    ("DELETE", "/preview"),
    ("GET", "/why"),
    ("GET", "/resources/a/why"),
    ("GET", "/template"),
    ("GET", "/environment"),
    ("GET", "/files"),
    ("GET", "/outputs"),
    ("GET", "/outputs/o"),
    ("POST", "/actions"),
    ("GET", "/resources"),
    ("GET", "/resources/a"),
    ("PATCH", "/resources/a"),
    ("GET", "/resources/a/metadata"),
    ("POST", "/resources/a/signal"),
    ("GET", "/events"),
    ("GET", "/resources/a/events"),
    ("GET", "/resources/a/events/{event}"),
)
BODIES = {
    "": {"template": TEMPLATE},
    "/preview": {"template": TEMPLATE},
    "/actions": {"cancel_update": None},
    "/resources/a": {"mark_unhealthy": True},
}


@pytest.mark.parametrize(("method", "below"), ROUTES)
def test_every_address_is_not_found_in_other_project(
    service: Service, owned: Owned, method: str, below: str
) -> None:
    before = rows(service)
    path = f"/stacks/{owned.name}/{owned.id}{below.format(event=owned.event)}"
    answer = owned.stranger.ask(method, path, BODIES.get(below))
    assert answer.status_code == 404, answer.text
    assert "RandomString" not in answer.text
    assert owned.owner.project not in answer.text
    assert rows(service) == before


@pytest.mark.parametrize(("method", "below"), ROUTES)
def test_project_of_another_in_address_is_forbidden(owned: Owned, method: str, below: str) -> None:
    path = f"/stacks/{owned.name}/{owned.id}{below.format(event=owned.event)}"
    answer = owned.stranger.ask_project(owned.owner.project, method, path, BODIES.get(below))
    assert answer.status_code == 403, answer.text
    assert "RandomString" not in answer.text


@pytest.mark.parametrize("kind", ["name", "id", "arn"])
@pytest.mark.parametrize("below", ["", "/resources", "/events", "/template", "/environment"])
def test_lookup_does_not_find_stack_of_other_project(owned: Owned, kind: str, below: str) -> None:
    answer = owned.stranger.ask("GET", f"/stacks/{getattr(owned, kind)}{below}")
    assert answer.status_code == 404, answer.text
    assert "location" not in answer.headers


def test_arn_of_another_project_finds_no_stack(owned: Owned) -> None:
    found = owned.owner.ask("GET", f"/stacks/{owned.arn}")
    other = owned.arn.replace(owned.owner.project, owned.stranger.project)
    assert (found.status_code, owned.owner.ask("GET", f"/stacks/{other}").status_code) == (302, 404)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?show_deleted=true",
        "?show_nested=true",
        "?show_hidden=true",
        "?with_count=true",
        "?tenant={project}",
        "?id={id}",
        "?name={name}",
        "?tags={name}",
        "?marker={id}",
    ],
)
def test_lists_contain_stacks_of_own_project_only(owned: Owned, query: str) -> None:
    asked = query.format(project=owned.owner.project, id=owned.id, name=owned.name)
    for path in ("/stacks", "/stacks/detail"):
        answer = owned.stranger.ask("GET", path + asked)
        assert answer.status_code == 200, answer.text
        assert MARKER not in answer.text
        assert answer.json()["stacks"] == []
        assert answer.json().get("count", 0) == 0


def test_list_of_all_projects_is_forbidden_by_default(owned: Owned) -> None:
    for person in (owned.stranger, owned.owner):
        assert person.ask("GET", "/stacks?global_tenant=true").status_code == 403


def test_stack_names_are_unique_per_project(owned: Owned) -> None:
    stack_id = owned.stranger.create(owned.name, TEMPLATE)
    found = owned.owner.ask("GET", f"/stacks/{owned.name}")
    assert owned.id in found.headers["location"]
    owned.stranger.ask("DELETE", f"/stacks/{owned.name}/{stack_id}")
    owned.stranger.wait_deleted(owned.name, stack_id)
    assert owned.stranger.ask("GET", f"/stacks/{owned.name}").status_code == 404


def test_a_deleted_stack_stays_hidden_from_other_projects(owned: Owned) -> None:
    stack_id = owned.owner.create("gone", TEMPLATE)
    assert owned.owner.ask("DELETE", f"/stacks/gone/{stack_id}").status_code == 204
    owned.owner.wait_deleted("gone", stack_id)
    assert owned.owner.ask("GET", "/stacks/gone").status_code == 404
    for below in ("", "/events", "/template"):
        assert owned.stranger.ask("GET", f"/stacks/gone/{stack_id}{below}").status_code == 404
    assert "gone" not in owned.stranger.ask("GET", "/stacks?show_deleted=true").text


def test_admin_sees_stack_of_any_project(service: Service, owned: Owned) -> None:
    answer = admin(service).ask("GET", f"/stacks/{owned.name}/{owned.id}")
    assert answer.status_code == 200, answer.text
    assert answer.json()["stack"]["id"] == owned.id


def test_only_admins_see_the_services(service: Service, owned: Owned) -> None:
    assert owned.stranger.ask("GET", "/services").status_code == 403
    assert admin(service).ask("GET", "/services").status_code == 200
