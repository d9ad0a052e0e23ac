"""connect(user, project): an openstacksdk connection that ignores the caller's OS_* variables."""

import os

import openstack

for k in [k for k in os.environ if k.startswith("OS_")]:
    del os.environ[k]


def connect(user, project=None):
    return openstack.connect(
        auth={
            "auth_url": os.environ["KS"] + "/v3",
            "username": user,
            "password": os.environ["PW"],
            "project_name": project or user,
            "user_domain_id": "default",
            "project_domain_id": "default",
        },
        region_name=os.environ["REGION"],
    )
