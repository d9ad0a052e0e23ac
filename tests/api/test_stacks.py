import httpx
import pytest

from stoker.engine.model.requests import StackQuery, StackRequest
from stoker.engine.model.views import DriftedProperty, DriftView, ResourceView
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError
from stoker.kernel.errors import INVALID_VERSION, VALIDATION_FAILED, ErrorType, PlanOutdatedError

from .conftest import ClientFor, FakePolicy
from .fake_service import CREATED, CREATED_TEXT, PROJECT, FakeService, stack_id

TEMPLATE = {"heat_template_version": "2021-04-16"}


def asked_request(service: FakeService) -> StackRequest:
    return service.asked[-1][1]


def asked_query(service: FakeService) -> StackQuery:
    return next(detail for what, detail in service.asked if what == "stacks")


async def test_create_answers_201_with_location(client: httpx.AsyncClient, base: str) -> None:
    answer = await client.post(base + "/stacks", json={"stack_name": "s", "template": TEMPLATE})
    href = f"http://api:8004/v1/{PROJECT}/stacks/s/{stack_id(1)}"
    assert answer.status_code == 201
    assert answer.headers["Location"] == href
    assert answer.json() == {"stack": {"id": stack_id(1), "links": [{"href": href, "rel": "self"}]}}


async def test_create_hands_every_field_to_the_engine(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    body = {
        "stack_name": "s",
        "template": "text",
        "parameters": {"p": 1},
        "environment": {"parameters": {}},
        "files": {"a": "content", "b": {"k": 1}},
        "timeout_mins": "5",
        "disable_rollback": "False",
        "tags": "a,b",
    }
    await client.post(base + "/stacks", json=body)
    assert asked_request(service) == StackRequest(
        name="s",
        template="text",
        parameters={"p": 1},
        environment={"parameters": {}},
        files={"a": "content", "b": '{"k": 1}'},
        timeout_mins=5,
        disable_rollback=False,
        tags=("a", "b"),
    )


async def test_environment_is_ignored_where_environment_files_are_given(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    body = {
        "stack_name": "s",
        "template": {},
        "environment": {"x": 1},
        "environment_files": ["e1", "e2"],
    }
    await client.post(base + "/stacks", json=body)
    assert asked_request(service).environment is None
    assert asked_request(service).environment_files == ("e1", "e2")


async def test_same_name_is_409(client: httpx.AsyncClient, base: str, service: FakeService) -> None:
    service.add("s")
    answer = await client.post(base + "/stacks", json={"stack_name": "s", "template": {}})
    assert answer.status_code == 409
    assert answer.json()["error"]["type"] == "StackExists"


@pytest.mark.parametrize(
    ("fields", "error_type"),
    [
        ({"template": TEMPLATE}, "HTTPBadRequest"),
        ({"stack_name": "s"}, "HTTPBadRequest"),
        ({"stack_name": "s", "template": None}, "HTTPBadRequest"),
        ({"stack_name": "s", "template": 5}, "HTTPBadRequest"),
        ({"stack_name": 5, "template": TEMPLATE}, "StackValidationFailed"),
        ({"stack_name": "s", "template": {}, "converge": True}, "HTTPBadRequest"),
        ({"stack_name": "s", "template": {}, "moves": {"a": "b"}}, "HTTPBadRequest"),
        ({"stack_name": "s", "template": {}, "keep_objects": ["a"]}, "HTTPBadRequest"),
        ({"stack_name": "s", "template": {}, "import_objects": {"a": 5}}, "HTTPBadRequest"),
        ({"stack_name": "s", "template": {}, "change_imported": True}, "HTTPBadRequest"),
        ({"stack_name": "s", "template": {}, "files": ["a"]}, "ValueError"),
        ({"stack_name": "s", "template": {}, "files": 5}, "HTTPBadRequest"),
        ({"stack_name": "s", "template": {}, "files": {"a": 5}}, "ValueError"),
        ({"stack_name": "s", "template": {}, "parameters": ["a"]}, "ValueError"),
        ({"stack_name": "s", "template": {}, "parameters": True}, "HTTPBadRequest"),
        ({"stack_name": "s", "template": {}, "parameters": "x"}, "ValueError"),
        ({"stack_name": "s", "template": {}, "environment": 5}, "HTTPBadRequest"),
        ({"stack_name": "s", "template": {}, "environment_files": "e"}, "HTTPBadRequest"),
        ({"stack_name": "s", "template": {}, "tags": 5}, "AttributeError"),
        ({"stack_name": "s", "template": {}, "tags": ["a"]}, "AttributeError"),
        ({"stack_name": "s", "template": {}, "tags": "x" * 81}, "HTTPBadRequest"),
        ({"stack_name": "s", "template": {}, "tags": "x," * 1000}, "HTTPBadRequest"),
        ({"stack_name": "s", "template": {}, "timeout_mins": [1]}, "HTTPBadRequest"),
        ({"stack_name": "s", "template": {}, "timeout_mins": -1}, "HTTPBadRequest"),
        ({"stack_name": "s", "template": {}, "timeout_mins": True}, "HTTPBadRequest"),
        ({"stack_name": "s", "template": {}, "disable_rollback": "yes"}, "ValueError"),
        ({"stack_name": "s", "template": {}, "timeout_mins": " 5 "}, "HTTPBadRequest"),
        ({"stack_name": "s", "template": {}, "timeout_mins": "05"}, "HTTPBadRequest"),
        ({"stack_name": "s", "template": {}, "timeout_mins": 10**12}, "HTTPBadRequest"),
        ({"stack_name": "s", "template": {}, "disable_rollback": 1}, "ValueError"),
        ({"stack_name": "s", "template": {}, "disable_rollback": None}, "ValueError"),
        ({"stack_name": "s", "template_url": 5}, "HTTPBadRequest"),
    ],
)
async def test_field_of_the_wrong_shape_is_400(
    client: httpx.AsyncClient,
    base: str,
    service: FakeService,
    fields: dict[str, object],
    error_type: str,
) -> None:
    answer = await client.post(base + "/stacks", json=fields)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == error_type
    assert not service.asked


async def test_empty_tags_text_is_one_empty_tag(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    await client.post(base + "/stacks", json={"stack_name": "s", "template": {}, "tags": ""})
    assert asked_request(service).tags == ("",)


async def test_timeout_of_zero_is_none(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    await client.post(base + "/stacks", json={"stack_name": "s", "template": {}, "timeout_mins": 0})
    assert asked_request(service).timeout_mins is None


async def test_list_row_has_the_fields_that_clients_know(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    service.add("s", description="not shown")
    answer = await client.get(base + "/stacks")
    assert answer.json() == {
        "stacks": [
            {
                "id": stack_id(1),
                "links": [
                    {
                        "href": f"http://api:8004/v1/{PROJECT}/stacks/s/{stack_id(1)}",
                        "rel": "self",
                    }
                ],
                "stack_name": "s",
                "description": "",
                "stack_status": "CREATE_COMPLETE",
                "stack_status_reason": "Stack CREATE completed successfully",
                "creation_time": CREATED_TEXT,
                "updated_time": None,
                "deletion_time": None,
                "stack_owner": "demo",
                "parent": None,
                "stack_user_project_id": None,
                "tags": None,
            }
        ]
    }


async def test_detail_is_a_list_too(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    service.add("s")
    answer = await client.get(base + "/stacks/detail")
    assert [s["stack_name"] for s in answer.json()["stacks"]] == ["s"]


async def test_admin_sees_the_project_in_lists(
    client_for: ClientFor, base: str, service: FakeService
) -> None:
    service.add("s")
    answer = await client_for("admin").get(base + "/stacks")
    assert answer.json()["stacks"][0]["project"] == PROJECT


async def test_list_query_reaches_the_engine(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    query = {
        "limit": 2,
        "marker": "m",
        "sort_keys": ["name", "nonsense", "creation_time"],
        "sort_dir": "asc",
        "name": ["a", "b"],
        "status": "CREATE_FAILED",
        "parent": "p",
        "show_deleted": "true",
        "show_hidden": "true",
        "tags": "t1,t2",
        "not-tags-any": "t3",
        "foo": "ignored",
    }
    answer = await client.get(base + "/stacks", params=query)
    assert answer.status_code == 200
    asked = asked_query(service)
    assert (asked.page.limit, asked.page.marker, asked.page.descending) == (2, "m", False)
    assert asked.page.sort_keys == ("stack_name", "creation_time")
    assert asked.filters == {
        "name": ("a", "b"),
        "action": ("CREATE",),
        "status": ("FAILED",),
        "owner_id": ("p",),
    }
    assert (asked.tags, asked.not_tags_any) == (("t1", "t2"), ("t3",))
    assert (asked.show_deleted, asked.show_nested, asked.show_hidden) == (True, False, True)


@pytest.mark.parametrize("status", ["COMPLETE", "IN_PROGRESS"])
async def test_bare_status_is_not_split(
    client: httpx.AsyncClient, base: str, service: FakeService, status: str
) -> None:
    await client.get(base + "/stacks", params={"status": status})
    assert asked_query(service).filters == {"status": (status,)}


@pytest.mark.parametrize("key", ["tags_any", "not_tags", "tags-any", "not-tags"])
async def test_tags_are_read_with_hyphens_and_underscores(
    client: httpx.AsyncClient, base: str, service: FakeService, key: str
) -> None:
    await client.get(base + "/stacks", params={key: "a"})
    assert getattr(asked_query(service), key.replace("-", "_")) == ("a",)


async def test_hidden_stacks_are_listed_on_demand_only(
    client_for: ClientFor, base: str, service: FakeService
) -> None:
    client = client_for(hidden_tags=("hidden",))
    await client.get(base + "/stacks", params={"not_tags_any": "x"})
    assert asked_query(service).not_tags_any == ("x", "hidden")
    service.asked.clear()
    await client.get(base + "/stacks", params={"show_hidden": "true"})
    assert asked_query(service).not_tags_any == ()


async def test_sort_direction_is_asc_or_desc(client: httpx.AsyncClient, base: str) -> None:
    answer = await client.get(base + "/stacks", params={"sort_dir": "foo"})
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "ValueError"


async def test_full_page_links_to_the_next(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    for name in "abc":
        service.add(name)
    answer = await client.get(base + "/stacks", params={"limit": 2, "tags": "x"})
    (next_link,) = answer.json()["links"]
    assert next_link == {
        "rel": "next",
        "href": f"http://api:8004/v1/{PROJECT}/stacks?limit=2&tags=x&marker={stack_id(2)}",
    }
    assert "links" not in (await client.get(base + "/stacks", params={"limit": 5})).json()


async def test_limit_of_zero_lists_nothing(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    service.add("s")
    assert (await client.get(base + "/stacks", params={"limit": 0})).json() == {"stacks": []}


async def test_count_comes_on_demand(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    service.add("s")
    assert (await client.get(base + "/stacks", params={"with_count": "true"})).json()["count"] == 1


async def test_list_of_all_projects_needs_its_policy(
    client: httpx.AsyncClient, base: str, service: FakeService, policy: FakePolicy
) -> None:
    answer = await client.get(base + "/stacks", params={"global_tenant": "true"})
    assert answer.status_code == 403
    assert answer.json()["error"]["type"] == "Forbidden"
    policy.forbidden.clear()
    await client.get(base + "/stacks", params={"global_tenant": "true"})
    assert asked_query(service).all_projects


async def test_show_has_the_fields_that_clients_know(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    service.add("s", tags=("a",), timeout_mins=5)
    answer = await client.get(f"{base}/stacks/s/{stack_id(1)}")
    assert answer.json()["stack"] == {
        "id": stack_id(1),
        "stack_name": "s",
        "links": [{"href": f"http://api:8004/v1/{PROJECT}/stacks/s/{stack_id(1)}", "rel": "self"}],
        "creation_time": CREATED_TEXT,
        "updated_time": None,
        "deletion_time": None,
        "notification_topics": [],
        "parameters": {"OS::stack_id": stack_id(1)},
        "description": "No description",
        "template_description": "No description",
        "capabilities": [],
        "disable_rollback": True,
        "timeout_mins": 5,
        "stack_owner": "demo",
        "parent": None,
        "stack_user_project_id": None,
        "tags": ["a"],
        "outputs": [{"output_key": "o", "description": "an output", "output_value": "v"}],
        "stack_status": "CREATE_COMPLETE",
        "stack_status_reason": "Stack CREATE completed successfully",
    }


async def test_outputs_are_left_out_on_demand(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    service.add("s")
    path = f"{base}/stacks/s/{stack_id(1)}"
    answer = await client.get(path, params={"resolve_outputs": "false"})
    assert "outputs" not in answer.json()["stack"]
    assert (await client.get(path, params={"resolve_outputs": "zz"})).status_code == 400


async def test_wrong_name_or_id_is_404(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    service.add("s")
    for path in (f"s/{stack_id(2)}", f"t/{stack_id(1)}", "s/nouuid"):
        answer = await client.get(f"{base}/stacks/{path}")
        assert answer.status_code == 404
        assert answer.json()["error"]["type"] == "EntityNotFound"


async def test_documents_of_a_stack_come_as_they_are(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    service.add("s")
    path = f"{base}/stacks/s/{stack_id(1)}"
    assert (await client.get(path + "/template")).json() == TEMPLATE
    assert (await client.get(path + "/environment")).json() == {"parameters": {}}
    assert (await client.get(path + "/files")).json() == {"a.yaml": "x"}


async def test_put_is_202_and_needs_a_template(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    service.add("s")
    path = f"{base}/stacks/s/{stack_id(1)}"
    assert (await client.put(path, json={"parameters": {"p": 1}})).status_code == 400
    answer = await client.put(path, json={"template": TEMPLATE})
    assert answer.status_code == 202
    assert not asked_request(service).existing


async def test_patch_is_202_and_keeps_what_exists(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    service.add("s")
    body = {"parameters": {"p": 1}, "clear_parameters": ["q"], "converge": True}
    answer = await client.patch(f"{base}/stacks/s/{stack_id(1)}", json=body)
    assert answer.status_code == 202
    request = asked_request(service)
    assert (request.existing, request.template) == (True, None)
    assert (request.clear_parameters, request.tags) == (("q",), None)


async def test_patch_without_change_has_its_own_policy(
    client: httpx.AsyncClient, base: str, service: FakeService, policy: FakePolicy
) -> None:
    service.add("s")
    path = f"{base}/stacks/s/{stack_id(1)}"
    await client.patch(path, json={})
    await client.patch(path, json={"tags": "a"})
    assert policy.asked == ["stacks:update_no_change", "stacks:update_patch"]


async def test_delete_is_204_and_then_404(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    service.add("s")
    path = f"{base}/stacks/s/{stack_id(1)}"
    assert (await client.delete(path)).status_code == 204
    assert (await client.delete(path)).status_code == 404


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
async def test_stack_by_name_redirects_every_method(
    client: httpx.AsyncClient, base: str, service: FakeService, method: str
) -> None:
    service.add("s")
    answer = await client.request(method, base + "/stacks/s?a=b&c=d")
    assert answer.status_code == 302
    expected = f"http://api:8004/v1/{PROJECT}/stacks/s/{stack_id(1)}?a=b&c=d"
    assert answer.headers["Location"] == expected


@pytest.mark.parametrize(
    ("method", "below"),
    [("GET", b) for b in ("resources", "events", "template", "actions", "environment", "files")]
    + [("POST", b) for b in ("resources", "events", "template", "actions")],
)
async def test_parts_of_a_stack_by_name_redirect(
    client: httpx.AsyncClient, base: str, service: FakeService, method: str, below: str
) -> None:
    service.add("s")
    answer = await client.request(method, f"{base}/stacks/s/{below}")
    assert answer.status_code == 302
    expected = f"http://api:8004/v1/{PROJECT}/stacks/s/{stack_id(1)}/{below}"
    assert answer.headers["Location"] == expected


@pytest.mark.parametrize("below", ["outputs", "snapshots", "export"])
async def test_unknown_parts_of_stack_are_404(
    client: httpx.AsyncClient, base: str, service: FakeService, below: str
) -> None:
    service.add("s")
    assert (await client.get(f"{base}/stacks/s/{below}")).status_code == 404


async def test_arn_stands_for_a_name_quoted_or_not(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    address = service.add("s").address
    quoted = address.arn.replace(":", "%3A").replace("/", "%2F")
    for arn in (address.arn, quoted):
        for below in (
            "",
            "/resources",
            "/resources/a%20b",
            "/resources/a/metadata",
            "/outputs",
            "/outputs/o",
            "/resources/a/events/1",
        ):
            answer = await client.get(f"{base}/stacks/{arn}{below}")
            assert answer.status_code == 302
            assert answer.headers["Location"].endswith(f"/stacks/s/{address.id}{below}")


@pytest.mark.parametrize(
    "query",
    ["name=a&" * 501, "tags=" + "a," * 101, "not-tags-any=" + "&not_tags_any=".join("ab" * 60)],
)
async def test_query_beyond_bounds_is_400(
    client: httpx.AsyncClient, base: str, service: FakeService, query: str
) -> None:
    answer = await client.get(f"{base}/stacks?{query}")
    assert answer.status_code == 400
    assert not service.asked


async def test_unknown_name_is_404(client: httpx.AsyncClient, base: str) -> None:
    for path in ("/stacks/nosuch", "/stacks/nosuch/resources", "/stacks/" + "a" * 5000):
        assert (await client.get(base + path)).status_code == 404


async def test_id_redirects_too(client: httpx.AsyncClient, base: str, service: FakeService) -> None:
    service.add("s")
    answer = await client.get(f"{base}/stacks/{stack_id(1)}")
    assert answer.headers["Location"].endswith(f"/stacks/s/{stack_id(1)}")


@pytest.mark.parametrize(
    "action", ["suspend", "resume", "check", "cancel_update", "cancel_without_rollback"]
)
async def test_action_is_200_with_null(
    client: httpx.AsyncClient, base: str, service: FakeService, policy: FakePolicy, action: str
) -> None:
    service.add("s")
    answer = await client.post(f"{base}/stacks/s/{stack_id(1)}/actions", json={action: None})
    assert (answer.status_code, answer.text) == (200, "null")
    assert service.asked == [("act", action)]
    assert policy.asked == ["actions:action", f"actions:{action}"]


@pytest.mark.parametrize("body", [{}, {"foo": None}, {"check": None, "suspend": None}])
async def test_body_that_names_no_single_action_is_400(
    client: httpx.AsyncClient, base: str, service: FakeService, body: dict[str, None]
) -> None:
    service.add("s")
    answer = await client.post(f"{base}/stacks/s/{stack_id(1)}/actions", json=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "HTTPBadRequest"


async def test_preview_nests_resources_and_has_no_status(
    client: httpx.AsyncClient, base: str
) -> None:
    body = {"stack_name": "s", "template": {}}
    stack = (await client.post(base + "/stacks/preview", json=body)).json()["stack"]
    assert stack["id"] == "None"
    assert "stack_status" not in stack
    first, nested = stack["resources"]
    assert first["resource_name"] == "a"
    assert first["resource_identity"] == {
        "tenant": PROJECT,
        "stack_name": "s",
        "stack_id": "None",
        "path": "/resources/a",
    }
    assert nested[0]["parent_resource"] == "g"


@pytest.mark.parametrize(("method", "existing"), [("PUT", False), ("PATCH", True)])
async def test_preview_of_an_update_groups_the_changes(
    client: httpx.AsyncClient, base: str, service: FakeService, method: str, existing: bool
) -> None:
    service.add("s")
    path = f"{base}/stacks/s/{stack_id(1)}/preview"
    answer = await client.request(method, path, json={"template": TEMPLATE})
    changes = answer.json()["resource_changes"]
    assert {kind: len(found) for kind, found in changes.items()} == {
        "unchanged": 0,
        "updated": 1,
        "replaced": 0,
        "added": 0,
        "deleted": 0,
    }
    [change] = changes["updated"]
    assert change["resource_action"] == "CREATE"
    assert (change["change_reason"], change["forced_by"]) == ("property", ["x"])
    assert asked_request(service).existing is existing


@pytest.mark.parametrize("query", [{}, {"changes_only": "true"}])
async def test_preview_may_leave_unchanged_resources_out(
    client: httpx.AsyncClient, base: str, service: FakeService, query: dict[str, str]
) -> None:
    service.add("s")
    path, body = f"{base}/stacks/s/{stack_id(1)}/preview", {"template": TEMPLATE}
    service.change = "unchanged"
    found = (await client.put(path, params=query, json=body)).json()["resource_changes"]
    assert len(found["unchanged"]) == (0 if query else 1)
    service.change = "updated"
    found = (await client.put(path, params=query, json=body)).json()["resource_changes"]
    assert len(found["updated"]) == 1


async def test_a_delete_is_previewed_as_an_update_is(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    service.add("s")
    service.change = "deleted"
    path = f"{base}/stacks/s/{stack_id(1)}/preview"
    answer = (await client.delete(path, params={"fingerprint": "true"})).json()
    [change] = answer["resource_changes"]["deleted"]
    assert (change["path"], change["step"]) == (["a"], 1)
    assert answer["plan_fingerprint"] == "the plan"
    assert service.asked == [("preview_delete", None)]


async def test_previews_show_quotas_and_warnings_on_request(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    service.add("s")
    path, body = f"{base}/stacks/s/{stack_id(1)}/preview", {"template": TEMPLATE}
    query = {"quotas": "true", "warnings": "true"}
    quota = {"service": "compute", "name": "instances", "requested": 2, "used": 9, "allowed": 10}
    warning = {"path": ["a"], "message": "it is used"}
    updated = (await client.put(path, params=query, json=body)).json()
    assert (updated["quotas"], updated["warnings"]) == ([quota], [warning])
    deleted = (await client.delete(path, params={"warnings": "true"})).json()
    assert deleted["warnings"] == [warning]
    new = {"stack_name": "new", **body}
    made = (await client.post(f"{base}/stacks/preview", params=query, json=new)).json()
    assert made["quotas"] == [quota]
    for plain in (
        (await client.put(path, json=body)).json(),
        (await client.delete(path)).json(),
        (await client.post(f"{base}/stacks/preview", json=new)).json(),
    ):
        assert plain.keys().isdisjoint({"quotas", "warnings"})


async def test_fingerprint_of_accepted_plan_reaches_the_engine(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    body = {"template": TEMPLATE, "plan_fingerprint": "the plan"}
    asked = {"url": base + "/stacks/preview", "json": {**body, "stack_name": "s"}}
    preview = await client.post(**asked, params={"fingerprint": "true"})
    assert preview.json()["plan_fingerprint"] == "the plan"
    assert (await client.post(**asked)).json()["plan_fingerprint"] is None
    await client.post(base + "/stacks", json={**body, "stack_name": "s"})
    assert asked_request(service).plan_fingerprint == "the plan"
    path = f"{base}/stacks/s/{stack_id(1)}"
    await client.patch(path, json=body)
    assert asked_request(service).plan_fingerprint == "the plan"
    await client.delete(path, params={"plan_fingerprint": "the plan"})
    assert service.asked[-1] == ("delete", "the plan")
    answer = await client.post(base + "/stacks", json={**body, "plan_fingerprint": 1})
    assert answer.status_code == 400


async def test_outdated_plan_is_a_conflict(
    client: httpx.AsyncClient, base: str, service: FakeService
) -> None:
    service.add("s")
    service.refusal = PlanOutdatedError("Nothing was changed.")
    answer = await client.put(f"{base}/stacks/s/{stack_id(1)}", json={"template": TEMPLATE})
    assert (answer.status_code, answer.json()["error"]["type"]) == (409, "PlanOutdated")


@pytest.mark.parametrize(
    ("change", "state", "physical_id"),
    [
        ("added", "INIT", ""),
        ("replaced", "INIT", ""),
        ("unchanged", "INIT", "p"),
        ("updated", "CREATE", "p"),
        ("deleted", "CREATE", "p"),
    ],
)
async def test_preview_shows_new_resources_in_initial_state(
    client: httpx.AsyncClient,
    base: str,
    service: FakeService,
    change: str,
    state: str,
    physical_id: str,
) -> None:
    service.add("s")
    service.change = change
    path = f"{base}/stacks/s/{stack_id(1)}/preview"
    changes = (await client.put(path, json={"template": TEMPLATE})).json()["resource_changes"]
    assert changes[change][0]["resource_action"] == state
    assert changes[change][0]["physical_resource_id"] == physical_id


async def test_validate_answers_what_the_engine_says(client: httpx.AsyncClient, base: str) -> None:
    answer = await client.post(base + "/validate", json={"template": {}})
    assert answer.json() == {"Description": "d", "Parameters": {}}


@pytest.mark.parametrize(("codes", "status"), [("99001", 200), ("99001,5", 400), ("", 400)])
async def test_validate_accepts_known_error_codes_to_ignore(
    client: httpx.AsyncClient, base: str, codes: str, status: int
) -> None:
    path = f"{base}/validate?ignore_errors={codes}"
    answer = await client.post(path, json={"template": {}})
    assert answer.status_code == status


@pytest.mark.parametrize(
    ("error_type", "shown"),
    [
        (VALIDATION_FAILED, "HTTPBadRequest"),
        (INVALID_VERSION, "InvalidTemplateVersion"),
    ],
)
async def test_validate_calls_ordinary_findings_bad_requests(
    client: httpx.AsyncClient, base: str, service: FakeService, error_type: ErrorType, shown: str
) -> None:
    service.refusal = DiagnosticError([Diagnostic("c", "m", error_type=error_type)])
    answer = await client.post(base + "/validate", json={"template": {}})
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == shown


async def test_drift_is_described_resource_by_resource(
    service: FakeService, client: httpx.AsyncClient, base: str
) -> None:
    address = service.add("s").address
    resource = ResourceView(
        address, "net", "1", "p-1", "OS::Neutron::Net", "CREATE", "COMPLETE", "", CREATED, CREATED
    )
    changed = DriftedProperty("name", "mine", "theirs", repairable=True)
    service.drifts = (
        DriftView(resource, "changed", "", (changed,), ("value_specs",)),
        DriftView(resource, "unknown", "no answer"),
    )
    answer = await client.get(f"{base}/stacks/s/{stack_id(1)}/drift")
    told = answer.json()["drift"]
    assert (answer.status_code, told["drifted"]) == (200, True)
    assert told["resources"][0] == {
        "resource_name": "net",
        "resource_type": "OS::Neutron::Net",
        "physical_resource_id": "p-1",
        "stack_name": "s",
        "stack_id": stack_id(1),
        "state": "changed",
        "reason": "",
        "properties": [{"name": "name", "applied": "mine", "live": "theirs", "repairable": True}],
        "not_compared": ["value_specs"],
    }
    service.drifts = service.drifts[1:]
    answer = await client.get(f"{base}/stacks/s/{stack_id(1)}/drift")
    assert answer.json()["drift"]["drifted"] is False


async def test_update_lists_moves(
    service: FakeService, client: httpx.AsyncClient, base: str
) -> None:
    service.add("s")
    body = {"existing": True, "moves": {"old": "new"}}
    await client.patch(f"{base}/stacks/s/{stack_id(1)}", json=body)
    [request] = [detail for what, detail in service.asked if what == "update"]
    assert request.moves == {"old": "new"}


@pytest.mark.parametrize("moves", [["a"], {"a": 5}, {"a": ""}, "a=b"])
async def test_moves_of_the_wrong_shape_are_refused(
    service: FakeService, client: httpx.AsyncClient, base: str, moves: object
) -> None:
    service.add("s")
    body = {"existing": True, "moves": moves}
    answer = await client.patch(f"{base}/stacks/s/{stack_id(1)}", json=body)
    assert answer.status_code == 400
    assert service.asked == []


async def test_update_lists_imports_and_releases(
    service: FakeService, client: httpx.AsyncClient, base: str
) -> None:
    service.add("s")
    body = {"import_objects": {"a": "id"}, "change_imported": True, "keep_objects": ["b", "n/c"]}
    await client.patch(f"{base}/stacks/s/{stack_id(1)}", json={"existing": True, **body})
    [request] = [detail for what, detail in service.asked if what == "update"]
    assert request.import_objects == {"a": "id"}
    assert request.change_imported
    assert request.keep_objects == ("b", "n/c")


async def test_express_is_a_choice_of_each_request(
    service: FakeService, client: httpx.AsyncClient, base: str
) -> None:
    body = {"template": TEMPLATE, "express": True}
    await client.post(f"{base}/stacks", json={**body, "stack_name": "s"})
    assert asked_request(service).express
    address = f"{base}/stacks/s/{stack_id(1)}"
    for express in (True, False):
        await client.put(address, json={**body, "express": express})
        assert asked_request(service).express is express
    answer = await client.delete(address, params={"express": "perhaps"})
    assert answer.status_code == 400
    await client.delete(address, params={"express": "true"})
    assert service.asked[-1] == ("delete", "express")


@pytest.mark.parametrize(
    "body",
    [
        {"express": "perhaps"},
        {"express": 1},
        {"import_objects": ["a"]},
        {"import_objects": {"a": ""}},
        {"import_objects": {"a": "x" * 256}},
        {"import_objects": {f"r{number}": "id" for number in range(1_001)}},
        {"keep_objects": "a"},
        {"keep_objects": [5]},
        {"keep_objects": [""]},
        {"keep_objects": ["a"] * 1_001},
        {"change_imported": "perhaps"},
    ],
)
async def test_imports_of_the_wrong_shape_are_refused(
    service: FakeService, client: httpx.AsyncClient, base: str, body: dict[str, object]
) -> None:
    service.add("s")
    answer = await client.patch(f"{base}/stacks/s/{stack_id(1)}", json={"existing": True, **body})
    assert answer.status_code == 400
    assert service.asked == []


@pytest.mark.parametrize("given", [True, False, None])
async def test_an_update_converges_where_it_is_asked_to(
    service: FakeService, client: httpx.AsyncClient, base: str, given: bool | None
) -> None:
    service.add("s")
    body = {"existing": True} | ({} if given is None else {"converge": given})
    await client.patch(f"{base}/stacks/s/{stack_id(1)}", json=body)
    [request] = [detail for what, detail in service.asked if what == "update"]
    assert request.converge is bool(given)


@pytest.mark.parametrize(("asked", "converges"), [(None, True), (False, False), (True, True)])
async def test_an_operator_can_let_all_updates_converge(
    service: FakeService, client_for: ClientFor, base: str, asked: bool | None, converges: bool
) -> None:
    service.add("s")
    body = {"template": TEMPLATE} | ({} if asked is None else {"converge": asked})
    client = client_for(converges=True)
    await client.put(f"{base}/stacks/s/{stack_id(1)}", json=body)
    assert asked_request(service).converge is converges
