#!/opt/agents/bin/python
"""A deployment with the signal transport ZAQAR_SIGNAL that sends its own report to its queue.

The published hooks cannot, because zaqarclient no longer has the API that they use. The queue and
its project are inputs of the deployment.
"""

import os

from keystoneclient.v3 import client as keystone
from zaqarclient.queues.v2 import client as zaqar

inputs = dict(os.environ)
user = keystone.Client(
    auth_url=inputs["deploy_auth_url"],
    user_id=inputs["deploy_user_id"],
    password=inputs["deploy_password"],
    project_id=inputs["deploy_project_id"],
)
address = user.service_catalog.url_for(service_type="messaging", endpoint_type="publicURL")
token = {"os_auth_token": user.auth_token, "os_project_id": inputs["deploy_project_id"]}
cloud = zaqar.Client(address, conf={"auth_opts": {"backend": "keystone", "options": token}})
said = f"{inputs['deploy_action']} {inputs['greeting']}"
report = {"deploy_stdout": said, "deploy_status_code": 0}
cloud.queue(inputs["deploy_queue_id"]).post({"body": report, "ttl": 600})
