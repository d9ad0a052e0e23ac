"""Domains, projects, users, groups, roles, grants, services, endpoints and regions."""

from typing import Any

import pytest


async def test_versions_are_discovered_without_a_token(running: Any) -> None:
    client = running.client
    several = await client.get("/identity/")
    assert several.status_code == 300
    one = (await client.get("/identity/v3/")).json()["version"]
    assert several.json()["versions"]["values"] == [one]
    assert one["id"] == "v3.14"
    assert one["links"] == [{"rel": "self", "href": "http://127.0.0.1:35357/identity/v3/"}]


@pytest.mark.parametrize(
    ("plural", "kind", "content", "change"),
    [
        ("domains", "domain", {"name": "x"}, {"description": "y"}),
        ("projects", "project", {"name": "x", "custom": "kept"}, {"name": "y"}),
        ("users", "user", {"name": "x", "email": "a@b"}, {"enabled": False}),
        ("groups", "group", {"name": "x"}, {"description": "y"}),
        ("roles", "role", {"name": "x"}, {"name": "y"}),
        ("services", "service", {"type": "x", "name": "x"}, {"enabled": False}),
        ("regions", "region", {"id": "x"}, {"description": "y"}),
        ("credentials", "credential", {"type": "cert", "blob": "{}"}, {"blob": "[]"}),
    ],
)
async def test_objects_are_made_shown_listed_changed_and_deleted(
    admin: Any, plural: str, kind: str, content: dict[str, Any], change: dict[str, Any]
) -> None:
    made = await admin.made(f"/{plural}", kind, **content)
    path = f"/{plural}/{made['id']}"
    assert content.items() <= made.items()
    assert made["links"]["self"].endswith(f"/identity/v3{path}")
    assert await admin.found(path) == made
    assert made in await admin.found(f"/{plural}")
    answer = await admin("PATCH", path, {kind: change})
    assert answer.status_code == 200
    assert answer.json()[kind] == {**made, **change}
    if kind == "domain":
        assert (await admin("DELETE", path)).status_code == 403
        await admin("PATCH", path, {kind: {"enabled": False}})
    assert (await admin("DELETE", path)).status_code == 204
    for method, body in (("GET", None), ("PATCH", {kind: {}}), ("DELETE", None)):
        assert (await admin(method, path, body)).status_code == 404


@pytest.mark.parametrize(
    ("plural", "kind"),
    [
        ("domains", "domain"),
        ("projects", "project"),
        ("users", "user"),
        ("groups", "group"),
        ("roles", "role"),
    ],
)
async def test_names_are_taken_once(admin: Any, plural: str, kind: str) -> None:
    await admin.made(f"/{plural}", kind, name="x")
    answer = await admin("POST", f"/{plural}", {kind: {"name": "x"}})
    assert (answer.status_code, answer.json()["error"]["title"]) == (409, "Conflict")


@pytest.mark.parametrize(
    "project",
    [
        {},
        {"name": ""},
        {"name": 1},
        {"name": "x" * 65},
        {"name": "x", "enabled": "yes"},
        {"name": "x", "domain_id": "none"},
        {"name": "x", "tags": ["a,b"]},
        {"name": "x", "is_domain": True},
        "x",
    ],
)
async def test_bad_bodies_are_refused(admin: Any, project: Any) -> None:
    assert (await admin("POST", "/projects", {"project": project})).status_code == 400


async def test_lists_are_filtered_and_paged(admin: Any) -> None:
    for name in ("alpha", "beta", "gamma"):
        await admin.made("/groups", "group", name=name)
    assert [g["name"] for g in await admin.found("/groups?name=beta")] == ["beta"]
    assert [
        g["name"] for g in await admin.found("/groups?name__contains=a&name__startswith=g")
    ] == ["gamma"]
    first = (await admin("GET", "/groups?limit=2&sort_key=name")).json()
    assert [g["name"] for g in first["groups"]] == ["alpha", "beta"]
    following = await admin.client.get(
        first["links"]["next"], headers={"X-Auth-Token": admin.token}
    )
    assert [g["name"] for g in following.json()["groups"]] == ["gamma"]


async def test_projects_form_a_tree(admin: Any) -> None:
    top = await admin.made("/projects", "project", name="top")
    below = await admin.made("/projects", "project", name="below", parent_id=top["id"])
    assert (top["parent_id"], below["parent_id"]) == ("default", top["id"])
    shown = await admin.found(f"/projects/{below['id']}?parents_as_ids")
    assert shown["parents"] == {top["id"]: None}
    shown = await admin.found(f"/projects/{top['id']}?subtree_as_list")
    assert [p["project"]["name"] for p in shown["subtree"]] == ["below"]
    assert (await admin("DELETE", f"/projects/{top['id']}")).status_code == 403
    assert {p["id"] for p in await admin.found("/projects?is_domain=true")} == {"default", "stoker"}


async def test_projects_have_tags(admin: Any) -> None:
    project = await admin.made("/projects", "project", name="p", tags=["a"])
    path = f"/projects/{project['id']}/tags"
    assert (await admin("PUT", f"{path}/b")).status_code == 201
    assert (await admin("GET", f"{path}/b")).status_code == 204
    assert [p["name"] for p in await admin.found("/projects?tags=a,b")] == ["p"]
    assert (await admin("DELETE", f"{path}/a")).status_code == 204
    assert await admin.found("/projects?tags=a") == []
    assert (await admin("GET", f"{path}/a")).status_code == 404
    assert (await admin("PUT", path, {"tags": ["x", "y"]})).json()["tags"] == ["x", "y"]


async def test_roles_come_from_grants_groups_and_inheritance(running: Any, admin: Any) -> None:
    project = await admin.made("/projects", "project", name="p")
    user = await admin.made("/users", "user", name="u", password="s")
    group = await admin.made("/groups", "group", name="g")
    assert (await admin("PUT", f"/groups/{group['id']}/users/{user['id']}")).status_code == 204
    direct, grouped, inherited, implied = [
        (await admin.made("/roles", "role", name=name))["id"]
        for name in ("direct", "grouped", "inherited", "implied")
    ]
    on_project = f"/projects/{project['id']}"
    for path in (
        f"{on_project}/users/{user['id']}/roles/{direct}",
        f"{on_project}/groups/{group['id']}/roles/{grouped}",
        f"/OS-INHERIT/domains/default/users/{user['id']}/roles/{inherited}/inherited_to_projects",
    ):
        assert (await admin("PUT", path)).status_code == 204
        assert (await admin("HEAD", path)).status_code == 204
    assert (await admin("PUT", f"/roles/{direct}/implies/{implied}")).status_code == 201
    assert (await admin("PUT", f"/roles/{implied}/implies/{direct}")).status_code == 400
    auth = running.auth("u", "s", project={"id": project["id"]})
    caller = await running.authenticated(auth)
    names = [role["name"] for role in caller.body["roles"]]
    assert names == ["direct", "grouped", "implied", "inherited"]
    query = f"user.id={user['id']}&scope.project.id={project['id']}&effective&include_names"
    effective = await admin.found(f"/role_assignments?{query}")
    assert {a["role"]["name"] for a in effective} == set(names)
    assert all(a["scope"]["project"]["name"] == "p" for a in effective)
    listed = await admin.found(f"{on_project}/users/{user['id']}/roles")
    assert [role["id"] for role in listed] == [direct]
    grant = f"{on_project}/users/{user['id']}/roles/{direct}"
    assert (await admin("DELETE", grant)).status_code == 204
    assert (await admin("DELETE", grant)).status_code == 404
    shown = await caller("GET", "/auth/tokens", X_Subject_Token=caller.token)
    assert [r["name"] for r in shown.json()["token"]["roles"]] == ["grouped", "inherited"]


async def test_deleting_takes_along_what_depends_on_it(admin: Any) -> None:
    domain = await admin.made("/domains", "domain", name="d")
    user = await admin.made("/users", "user", name="u", domain_id=domain["id"])
    project = await admin.made("/projects", "project", name="p", domain_id=domain["id"])
    role = await admin.named("roles", "member")
    await admin("PUT", f"/projects/{project['id']}/users/{user['id']}/roles/{role}")
    count = len(await admin.found("/role_assignments"))
    await admin("PATCH", f"/domains/{domain['id']}", {"domain": {"enabled": False}})
    assert (await admin("DELETE", f"/domains/{domain['id']}")).status_code == 204
    assert (await admin("GET", f"/users/{user['id']}")).status_code == 404
    assert (await admin("GET", f"/projects/{project['id']}")).status_code == 404
    assert len(await admin.found("/role_assignments")) == count - 1


async def test_the_catalog_is_made_of_services_and_endpoints(running: Any, admin: Any) -> None:
    service = await admin.made("/services", "service", type="metering", name="m")
    url = "http://m/$(project_id)s"
    content = {"service_id": service["id"], "interface": "public", "url": url, "region": "Two"}
    endpoint = await admin.made("/endpoints", "endpoint", **content)
    assert (endpoint["region"], endpoint["region_id"]) == ("Two", "Two")
    demo = await running.login("demo")
    entry = next(e for e in demo.body["catalog"] if e["type"] == "metering")
    assert entry["endpoints"][0]["url"] == f"http://m/{demo.body['project']['id']}"
    unscoped_types = {
        e["type"] for e in (await running.login("admin", domain={"id": "default"})).body["catalog"]
    }
    assert "metering" not in unscoped_types
    await admin("PATCH", f"/services/{service['id']}", {"service": {"enabled": False}})
    assert "metering" not in {e["type"] for e in (await running.login("demo")).body["catalog"]}
    assert (await admin("DELETE", f"/services/{service['id']}")).status_code == 204
    assert (await admin("GET", f"/endpoints/{endpoint['id']}")).status_code == 404


async def test_users_see_only_themselves_and_their_project(demo: Any, admin: Any) -> None:
    user, project = demo.body["user"]["id"], demo.body["project"]["id"]
    for path in (f"/users/{user}", f"/projects/{project}", "/domains/default", "/regions"):
        assert (await demo("GET", path)).status_code == 200
    assert "password_hash" not in await demo.found(f"/users/{user}")
    other = admin.body["user"]["id"]
    for path in (
        "/users",
        "/projects",
        "/roles",
        "/services",
        "/role_assignments",
        f"/users/{other}",
    ):
        assert (await demo("GET", path)).status_code == 403
    for path, kind in (("/users", "user"), ("/projects", "project"), ("/domains", "domain")):
        assert (await demo("POST", path, {kind: {"name": "x"}})).status_code == 403


async def test_domain_admin_manages_that_domain_only(running: Any, admin: Any) -> None:
    ruler = await running.domain_admin()
    user = await ruler.made("/users", "user", name="u", domain_id="stoker", password="x")
    project = await ruler.made("/projects", "project", name="p", domain_id="stoker")
    role = await admin.named("roles", "heat_stack_user")
    grant = f"/projects/{project['id']}/users/{user['id']}/roles/{role}"
    assert (await ruler("PUT", grant)).status_code == 204
    for powerful in ("admin", "service"):
        strong = await admin.named("roles", powerful)
        path = f"/projects/{project['id']}/users/{user['id']}/roles/{strong}"
        assert (await ruler("PUT", path)).status_code == 403
    assert {u["name"] for u in await ruler.found("/users")} == {"u", "stoker_domain_admin"}
    key = {"type": "ec2", "user_id": user["id"], "project_id": project["id"]}
    blob = '{"access": "a", "secret": "s"}'
    await ruler.made("/credentials", "credential", blob=blob, **key)
    refused = await ruler("POST", "/users", {"user": {"name": "x", "domain_id": "default"}})
    assert refused.status_code == 403
    outsider = admin.body["user"]["id"]
    assert (await ruler("DELETE", f"/users/{outsider}")).status_code == 403
    assert (await ruler("GET", f"/users/{outsider}")).status_code == 403
    assert (await ruler("DELETE", f"/users/{user['id']}")).status_code == 204


async def test_methods_that_a_path_lacks_are_refused(admin: Any) -> None:
    assert (await admin("PUT", "/users", {})).status_code == 405
    assert (await admin("GET", "/nothing")).status_code == 404
