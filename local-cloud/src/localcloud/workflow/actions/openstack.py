"""Actions on services of the cloud.

Names and inputs are those of Mistral, where such an action is a method of a service's client.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from localcloud.workflow.actions.action import Action
from localcloud.workflow.actions.service_calls import Endpoint, ServiceCall

_NOVA = Endpoint("compute", headers={"OpenStack-API-Version": "compute 2.79"})
_NEUTRON = Endpoint("network", "/v2.0")
_GLANCE = Endpoint("image", "/v2")
_CINDER = Endpoint("block-storage")
_KEYSTONE = Endpoint("identity", "/v3")
_HEAT = Endpoint("orchestration")
_SWIFT = Endpoint("object-store")
_ZAQAR = Endpoint("messaging", "/v2", {"Client-ID": "6a9ff8b6-5d4e-4c0f-8d3b-2f1c7f0f9b5a"})
_BARBICAN = Endpoint("key-manager", "/v1")
_DESIGNATE = Endpoint("dns", "/v2")
_OCTAVIA = Endpoint("load-balancer", "/v2.0")
_MISTRAL = Endpoint("workflowv2")
_LISTING = "marker=null, limit=null"


def _body(names: str, **more: Any) -> dict[str, Any]:
    """Return a body with inputs under their own names."""
    return {**{name: f"${name}" for name in names.split()}, **more}


def _nova() -> Iterator[Action]:
    server = "/servers/{server}"
    listing = f"{_LISTING}, name=null, status=null"
    yield ServiceCall(_NOVA, "GET", "/servers/detail", "servers").action(
        "nova.servers_list", listing
    )
    yield ServiceCall(_NOVA, "GET", server, "server").action("nova.servers_get", "server")
    yield ServiceCall(_NOVA, "DELETE", server).action("nova.servers_delete", "server")
    made = _body(
        "name key_name availability_zone security_groups",
        imageRef="$image", flavorRef="$flavor", networks="$nics", user_data="$userdata",
        metadata="$meta",
    )  # fmt: skip
    yield ServiceCall(_NOVA, "POST", "/servers", "server", {"server": made}).action(
        "nova.servers_create",
        'name, image, flavor, nics="auto", key_name=null, userdata=null, meta=null,'
        " availability_zone=null, security_groups=null",
    )
    acts: Mapping[str, tuple[Any, str]] = {
        **{verb: ({f"os-{verb}": None}, "") for verb in ("start", "stop")},
        **{
            verb: ({verb: None}, "")
            for verb in ("pause", "unpause", "suspend", "resume", "lock", "unlock")
        },
        "reboot": ({"reboot": {"type": "$reboot_type"}}, ', reboot_type="SOFT"'),
        "rebuild": ({"rebuild": {"imageRef": "$image"}}, ", image"),
        "resize": ({"resize": {"flavorRef": "$flavor"}}, ", flavor"),
        "confirm_resize": ({"confirmResize": None}, ""),
        "create_image": (
            {"createImage": {"name": "$image_name", "metadata": "$metadata"}},
            ", image_name, metadata=null",
        ),
    }
    for verb, (body, inputs) in acts.items():
        call = ServiceCall(_NOVA, "POST", f"{server}/action", "", body)
        yield call.action(f"nova.servers_{verb}", f"server{inputs}")
    yield ServiceCall(_NOVA, "GET", "/flavors/detail", "flavors").action(
        "nova.flavors_list", _LISTING
    )
    yield ServiceCall(_NOVA, "GET", "/flavors/{flavor}", "flavor").action(
        "nova.flavors_get", "flavor"
    )
    yield ServiceCall(_NOVA, "GET", "/os-keypairs", "keypairs").action("nova.keypairs_list")
    groups = ServiceCall(_NOVA, "GET", "/os-server-groups", "server_groups")
    yield groups.action("nova.server_groups_list")
    hosts = ServiceCall(_NOVA, "GET", "/os-hypervisors/detail", "hypervisors")
    yield hosts.action("nova.hypervisors_list")
    yield ServiceCall(_NOVA, "GET", "/limits", "limits").action("nova.limits_get")


def _neutron(singular: str, plural: str) -> Iterator[Action]:
    path = f"/{plural.replace('_', '-')}"
    many, one = path, f"{path}/{{{singular}}}"
    yield ServiceCall(_NEUTRON, "GET", many).action(f"neutron.list_{plural}", _LISTING)
    yield ServiceCall(_NEUTRON, "GET", one).action(f"neutron.show_{singular}", singular)
    yield ServiceCall(_NEUTRON, "DELETE", one).action(f"neutron.delete_{singular}", singular)
    create = ServiceCall(_NEUTRON, "POST", many, "", "$body")
    yield create.action(f"neutron.create_{singular}", "body")
    update = ServiceCall(_NEUTRON, "PUT", one, "", "$body")
    yield update.action(f"neutron.update_{singular}", f"{singular}, body")


def _cinder(kind: str, plural: str, word: str, names: str, inputs: str) -> Iterator[Action]:
    many, one = f"/{plural}", f"/{plural}/{{{word}}}"
    yield ServiceCall(_CINDER, "GET", many, plural).action(f"cinder.{kind}_list", _LISTING)
    yield ServiceCall(_CINDER, "GET", one, word).action(f"cinder.{kind}_get", word)
    yield ServiceCall(_CINDER, "DELETE", one).action(f"cinder.{kind}_delete", word)
    create = ServiceCall(_CINDER, "POST", many, word, {word: _body(names)})
    yield create.action(f"cinder.{kind}_create", inputs)


def _swift() -> Iterator[Action]:
    one = "/{container}/{obj}"
    yield ServiceCall(_SWIFT, "GET", "?format=json").action("swift.get_account", _LISTING)
    yield ServiceCall(_SWIFT, "GET", "/{container}?format=json").action(
        "swift.get_container", f"container, {_LISTING}"
    )
    yield ServiceCall(_SWIFT, "PUT", "/{container}").action("swift.put_container", "container")
    yield ServiceCall(_SWIFT, "GET", one).action("swift.get_object", "container, obj")
    yield ServiceCall(_SWIFT, "PUT", one, "", "$contents").action(
        "swift.put_object", "container, obj, contents"
    )
    yield ServiceCall(_SWIFT, "DELETE", one).action("swift.delete_object", "container, obj")


def _orchestration() -> Iterator[Action]:
    yield ServiceCall(_HEAT, "GET", "/stacks", "stacks").action("heat.stacks_list", _LISTING)
    yield ServiceCall(_HEAT, "GET", "/stacks/{stack_id}", "stack").action(
        "heat.stacks_get", "stack_id"
    )
    made = _body("stack_name template parameters environment timeout_mins")
    yield ServiceCall(_HEAT, "POST", "/stacks", "stack", made).action(
        "heat.stacks_create",
        "stack_name, template, parameters=null, environment=null, timeout_mins=null",
    )
    resources = ServiceCall(_HEAT, "GET", "/stacks/{stack_id}/resources", "resources")
    yield resources.action("heat.resources_list", "stack_id")
    yield ServiceCall(_MISTRAL, "GET", "/workflows", "workflows").action(
        "mistral.workflows_list", _LISTING
    )
    yield ServiceCall(_MISTRAL, "GET", "/workflows/{identifier}").action(
        "mistral.workflows_get", "identifier"
    )
    yield ServiceCall(_MISTRAL, "GET", "/executions", "executions").action(
        "mistral.executions_list", _LISTING
    )
    yield ServiceCall(_MISTRAL, "GET", "/executions/{id}").action("mistral.executions_get", "id")
    start_body = _body(
        "description params", workflow_name="$wf_identifier", input="$workflow_input"
    )
    yield ServiceCall(_MISTRAL, "POST", "/executions", "", start_body).action(
        "mistral.executions_create",
        "wf_identifier, workflow_input=null, description=null, params=null",
    )


def _others() -> Iterator[Action]:
    yield ServiceCall(_GLANCE, "GET", "/images", "images").action(
        "glance.images_list", f"{_LISTING}, name=null"
    )
    yield ServiceCall(_GLANCE, "GET", "/images/{image_id}").action("glance.images_get", "image_id")
    yield ServiceCall(_GLANCE, "DELETE", "/images/{image_id}").action(
        "glance.images_delete", "image_id"
    )
    for plural, word in (("projects", "project"), ("users", "user")):
        many = ServiceCall(_KEYSTONE, "GET", f"/{plural}", plural)
        yield many.action(f"keystone.{plural}_list")
        one = ServiceCall(_KEYSTONE, "GET", f"/{plural}/{{{word}}}", word)
        yield one.action(f"keystone.{plural}_get", word)
    queue = "/queues/{queue_name}/messages"
    yield ServiceCall(_ZAQAR, "POST", queue, "", _body("messages")).action(
        "zaqar.queue_post", "queue_name, messages"
    )
    yield ServiceCall(_ZAQAR, "GET", queue, "messages").action("zaqar.queue_messages", "queue_name")
    yield ServiceCall(_BARBICAN, "GET", "/secrets", "secrets").action("barbican.secrets_list")
    yield ServiceCall(_DESIGNATE, "GET", "/zones", "zones").action("designate.zones_list")
    yield ServiceCall(_DESIGNATE, "POST", "/zones", "", _body("name email ttl")).action(
        "designate.zones_create", "name, email, ttl=null"
    )
    yield ServiceCall(_DESIGNATE, "DELETE", "/zones/{zone}").action(
        "designate.zones_delete", "zone"
    )
    balancers = ServiceCall(_OCTAVIA, "GET", "/lbaas/loadbalancers", "loadbalancers")
    yield balancers.action("octavia.load_balancers_list", _LISTING)


_OF_NEUTRON = (
    ("network", "networks"), ("subnet", "subnets"), ("port", "ports"), ("router", "routers"),
    ("floatingip", "floatingips"), ("security_group", "security_groups"),
)  # fmt: skip
ACTIONS = (
    *_nova(),
    *(action for words in _OF_NEUTRON for action in _neutron(*words)),
    *_cinder(
        "volumes", "volumes", "volume",
        "size name description snapshot_id source_volid imageRef",
        "size, name=null, description=null, snapshot_id=null, source_volid=null, imageRef=null",
    ),
    *_cinder(
        "volume_snapshots", "snapshots", "snapshot", "volume_id name force",
        "volume_id, name=null, force=false",
    ),
    *_cinder("backups", "backups", "backup", "volume_id name", "volume_id, name=null"),
    *_swift(),
    *_orchestration(),
    *_others(),
)  # fmt: skip
