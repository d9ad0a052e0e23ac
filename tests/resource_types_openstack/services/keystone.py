"""Identity, on the local cloud."""

from __future__ import annotations

from tests.resource_types_openstack.harness import Case

ADMIN = {"by": "admin"}
DOMAIN = Case(
    "OS::Keystone::Domain",
    {},
    {"name": "x", "description": "other", "enabled": False},
    one_name=True,
    by="admin",
)
PROJECT = Case(
    "OS::Keystone::Project",
    {"tags": ["a"]},
    {"name": "x", "description": "other", "enabled": False, "tags": ["b"], "domain": "@domain"},
    dependencies={"@domain": DOMAIN},
    one_name=True,
    by="admin",
)
ROLE = Case("OS::Keystone::Role", {}, {"name": "x"}, one_name=True, by="admin")
GROUP = Case(
    "OS::Keystone::Group",
    {},
    {
        "name": "x",
        "description": "other",
        "domain": "@domain",
        "roles": [{"role": "@role", "project": "@project"}],
    },
    dependencies={"@domain": DOMAIN, "@role": ROLE, "@project": PROJECT},
    one_name=True,
    by="admin",
)
USER = Case(
    "OS::Keystone::User",
    {"password": "secret", "email": "a@example.org"},
    {
        "name": "x",
        "default_project": "@project",
        "description": "other",
        "domain": "@domain",
        "email": "b@example.org",
        "enabled": False,
        "groups": ["@group"],
        "password": "other",
        "roles": [{"role": "@role", "project": "@project"}],
    },
    dependencies={"@domain": DOMAIN, "@role": ROLE, "@project": PROJECT, "@group": GROUP},
    unreported=frozenset({"password"}),
    one_name=True,
    by="admin",
)
REGION = Case(
    "OS::Keystone::Region",
    {},
    {"description": "other", "enabled": False, "parent_region": "@above"},
    {"id": "theirs"},
    by="admin",
)
SERVICE = Case(
    "OS::Keystone::Service",
    {"type": "example"},
    {"name": "x", "description": "other", "enabled": False, "type": "other"},
    by="admin",
)
CASES = (
    DOMAIN,
    PROJECT,
    ROLE,
    GROUP,
    USER,
    Case(
        REGION.type_name,
        REGION.given,
        REGION.changed,
        REGION.other,
        dependencies={"@above": REGION},
        also=({"id": "mine"}, {"description": "by the user"}),
        by="admin",
    ),
    SERVICE,
    Case(
        "OS::Keystone::Endpoint",
        {"service": "@service", "interface": "public", "url": "http://127.0.0.1/a"},
        {
            "name": "x",
            "enabled": False,
            "interface": "internal",
            "region": "@region",
            "service": "@other",
            "url": "http://127.0.0.1/b",
        },
        dependencies={"@service": SERVICE, "@other": SERVICE, "@region": REGION},
        by="admin",
    ),
    Case(
        "OS::Keystone::UserRoleAssignment",
        {"user": "@user", "roles": [{"role": "@role", "project": "@project"}]},
        {"user": "@other", "roles": [{"role": "@role", "domain": "@domain"}]},
        dependencies={**USER.dependencies, "@user": USER, "@other": USER},
        by="admin",
    ),
    Case(
        "OS::Keystone::GroupRoleAssignment",
        {"group": "@group", "roles": [{"role": "@role", "project": "@project"}]},
        {"group": "@other", "roles": [{"role": "@role", "domain": "@domain"}]},
        dependencies={**GROUP.dependencies, "@group": GROUP, "@other": GROUP},
        by="admin",
    ),
)
