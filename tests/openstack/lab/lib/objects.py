"""Creates Keystone's objects once each, from lines on stdin:

    USER user
    USER role ROLE [PROJECT]
    USER service NAME TYPE URL

The owner of a service gets the roles admin and service in the project "service".
"""

import os
import sys
from pathlib import Path

from conn import connect

PW = os.environ["PW"]
i = connect("admin").identity
projects = {p.name: p for p in i.projects(domain_id="default")}
roles = {r.name: r for r in i.roles()}
users = {u.name: u for u in i.users(domain_id="default")}
services = {s.type: s for s in i.services()}
endpoints = {(e.service_id, e.interface): e for e in i.endpoints()}


def project(n):
    if n not in projects:
        projects[n] = i.create_project(name=n, domain_id="default")
    return projects[n]


def role(n):
    if n not in roles:
        roles[n] = i.create_role(name=n)
    return roles[n]


def user(n):
    if n not in users:
        users[n] = i.create_user(name=n, domain_id="default", password=PW)
    return users[n]


def grant(u, r, p):
    i.assign_project_role_to_user(project(p), user(u), role(r))


for line in sys.stdin:
    owner, kind, *a = line.split()
    if kind == "user":
        user(owner)
    elif kind == "role" and len(a) == 1:
        role(a[0])
    elif kind == "role":
        grant(owner, *a)
    else:
        name, typ, url = a
        grant(owner, "admin", "service")
        grant(owner, "service", "service")
        if typ not in services:
            services[typ] = i.create_service(name=name, type=typ)
        for itf in ("public", "internal", "admin"):
            if (services[typ].id, itf) not in endpoints:
                i.create_endpoint(
                    service_id=services[typ].id,
                    interface=itf,
                    url=url,
                    region_id=os.environ["REGION"],
                )

# the domain whose users and projects the orchestration service makes
dom = i.find_domain("heat") or i.create_domain(
    name="heat", description="users and projects of stacks"
)
adm = next(iter(i.users(name="heat_domain_admin", domain_id=dom.id)), None) or i.create_user(
    name="heat_domain_admin", domain_id=dom.id, password=PW
)
i.assign_domain_role_to_user(dom, adm, role("admin"))
Path(os.environ["ETC"], "stack_domain_id").write_text(f"{dom.id}\n")
