"""The cases of each service, and the objects that they need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from stoker.kernel.values import replace
from tests.openstack.cases import ATTACHMENTS, COMPUTE, NETWORKING, VOLUME
from tests.resource_types_openstack.harness import Case
from tests.resource_types_openstack.services import (
    aodh,
    barbican,
    cinder,
    designate,
    ec2,
    glance,
    keystone,
    magnum,
    manila,
    mistral,
    neutron,
    nova,
    object_store,
    octavia,
    quotas,
    zaqar,
)


def _no_words(connections: Mapping[str, Any]) -> dict[str, str]:
    return {}


def _balanced(connections: Mapping[str, Any]) -> dict[str, str]:
    """The project, and servers that no addresses of Neutron's cases are given to meanwhile."""
    project = connections["demo"].current_project_id
    return {"project": project, "server-1": "balanced-1", "server-2": "balanced-2"}


def _compute(connections: Mapping[str, Any]) -> dict[str, str]:
    """Create images and flavors of servers, and projects with quotas."""
    cloud, project = connections["admin"], connections["demo"].current_project_id
    return {
        "@project": project,
        "PROJECT": project,
        "HOST": next(cloud.compute.hypervisors()).name,
        "cirros": cloud.image.find_image("cirros").id,
        "nano": cloud.compute.find_flavor("m1.nano").id,
        "micro": cloud.compute.find_flavor("m1.micro").id,
    }


def _resource_types(connections: Mapping[str, Any]) -> dict[str, str]:
    """None, but the metric service then knows resources of the types that the cases name."""
    for name in ("instance", "volume"):
        session = connections["admin"].session
        session.post(
            "/v1/resource_type",
            json={"name": name},
            endpoint_filter={"service_type": "metric"},
            raise_exc=False,
        )
    return {}


@dataclass(frozen=True)
class Tried:
    """The cases of a service, and their prerequisites."""

    lab: tuple[str, ...]  # services that have to run, by the names of the lab
    cases: tuple[Case, ...]
    world: Mapping[str, Case] = field(default_factory=dict)  # objects by the words of the cases
    # Existing objects by the words of the cases.
    words: Callable[[Mapping[str, Any]], dict[str, str]] = _no_words


def _net(word: str) -> Case:
    return Case("OS::Neutron::Net", {"name": word})


def _subnet(net: str, cidr: str = "10.0.0.0/24") -> Case:
    return Case("OS::Neutron::Subnet", {"network": net, "cidr": cidr})


def _port(net: str, **more: Any) -> Case:
    return Case("OS::Neutron::Port", {"network": net, **more})


def _bound() -> Case:
    """A port that is bound to a host, as those of service chains must be."""
    specs = {"binding:host_id": "labhost", "device_id": "server", "device_owner": "compute:nova"}
    return replace(_port("n", value_specs=specs), by="admin")


def _router(*subnets: str) -> dict[str, Case]:
    """A router with a way out, joined to subnets."""
    router = Case("OS::Neutron::Router", {"external_gateway_info": {"network": "public"}})
    joined = {
        f"r-{subnet}": Case("OS::Neutron::RouterInterface", {"router": "r", "subnet": subnet})
        for subnet in subnets
    }
    return {"r": router, **joined}


def _at(*addresses: str) -> Case:
    return _port("n", fixed_ips=[{"ip_address": each} for each in addresses])


def _as_admin(case: Case) -> Case:
    """A case that an administrator makes, with all that it needs."""
    dependencies = {word: _as_admin(each) for word, each in case.dependencies.items()}
    return replace(case, by="admin", dependencies=dependencies)


def _public(connections: Mapping[str, Any]) -> dict[str, str]:
    network = connections["admin"].network.find_network("public").id
    project = connections["demo"].current_project_id
    return {"public": network, "PUBLIC": network, "PROJECT": project}


def _coreos(connections: Mapping[str, Any]) -> dict[str, str]:
    """Images of the system that clusters run on, and key pairs."""
    demo, found = connections["admin"], {}
    for word in "ij":
        image = demo.image.find_image(f"coreos-{word}") or demo.create_image(
            f"coreos-{word}",
            data=b"x",
            disk_format="raw",
            container_format="bare",
            os_distro="fedora-coreos",
            visibility="public",
            wait=True,
        )
        found[word] = image.id
    compute = connections["admin"].compute
    for word in "kl":
        if not compute.find_keypair(word):
            compute.create_keypair(name=word)
    network, flavor = demo.network.find_network("public"), demo.compute.find_flavor("m1.medium")
    return {**found, "n": network.id, "f": flavor.id}


class _Image(BaseHTTPRequestHandler):
    """An image on the web."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"an image")

    def log_message(self, *told: Any) -> None:
        """Say nothing of requests."""


def _published(connections: Mapping[str, Any]) -> dict[str, str]:
    """Serve an address from which Glance takes images, on one of the usual ports."""
    server = ThreadingHTTPServer(("127.0.0.1", 80), _Image)
    Thread(target=server.serve_forever, daemon=True).start()
    return {"http://example.org/image": "http://127.0.0.1/image"}


NET = _net("n")
NETWORKS = {
    "n": NET,
    "s": _subnet("n"),
    "o": _net("o"),
    "t": _subnet("o", "10.4.0.0/24"),
}
QOS = Case("OS::Neutron::QoSPolicy", {})
FLOATING = Case("OS::Neutron::FloatingIP", {"floating_network": "public"})
NEUTRON = {
    **NETWORKS,
    "port": _at("10.0.0.5", "10.0.0.6"),
    **{word: _port("n") for word in ("parent", "sub-a", "sub-b", "sub-c")},
    **_router("s", "t"),
    "policy": QOS,
    "other-policy": QOS,
    **{word: _bound() for word in ("a", "b", "c", "p", "other-p")},
    "f": FLOATING,
}
# Services of the lab that keep running, because many others need them.
CORE = ("keystone", "placement", "glance", "neutron", "nova")
# Types that no service of the lab can answer, and the reason.
BY_REFERENCE = {
    "OS::Blazar::*": "the service is not in the lab",
    "OS::Ironic::*": "the service is not in the lab",
    "OS::Zun::*": "the service is not in the lab",
    "OS::Neutron::Firewall*": "the plugin of version 1 runs with no release of today",
    "OS::Neutron::L2Gateway*": "the plugin runs with no release of today",
    "OS::Neutron::NetworkGateway": "the plugin runs with no release of today",
    "OS::Trove::*": "the lab has the API only, where instances stay in BUILD",
    "OS::Aodh::Alarm": "Aodh of today has no alarms on meters",
}


def by_reference(type_name: str) -> bool:
    """Return whether the API reference has to be the judge of a type."""
    return any(fnmatch(type_name, pattern) for pattern in BY_REFERENCE)


SERVICES = {
    "octavia": Tried(
        ("neutron", "octavia"),
        (*octavia.CASES, ec2.BALANCER),
        {
            "net": _net("net"),
            "subnet": _subnet("net"),
            "net-2": _net("net-2"),
            "other": _subnet("net-2"),
        },
        _balanced,
    ),
    "neutron": Tried(
        ("neutron", "neutron-vpnaas", "networking-sfc", "tap-as-a-service", "nova", "glance"),
        (
            *(_as_admin(case) for case in (*neutron.CASES, *NETWORKING)),
            *(case for case in quotas.CASES if case.type_name == "OS::Neutron::Quota"),
            *(case for case in ec2.CASES if case is not ec2.BALANCER),
        ),
        {word: _as_admin(case) for word, case in NEUTRON.items()},
        _public,
    ),
    "glance": Tried(("glance",), tuple(_as_admin(case) for case in glance.CASES), words=_published),
    "nova": Tried(
        ("nova", "glance", "neutron"),
        (
            *(_as_admin(case) for case in (*COMPUTE, *ATTACHMENTS, *nova.CASES)),
            *(case for case in quotas.CASES if case.type_name == "OS::Nova::Quota"),
        ),
        {word: _as_admin(case) for word, case in NETWORKS.items()},
        _compute,
    ),
    "barbican": Tried(("barbican",), barbican.CASES),
    "designate": Tried(
        ("designate",),
        # no server here is the primary of a secondary zone, which stays PENDING without one
        tuple(case for case in designate.CASES if case is not designate.SECONDARY),
    ),
    "zaqar": Tried(("zaqar", "mistral"), zaqar.CASES, words=mistral.two_workflows),
    "aodh": Tried(("gnocchi", "aodh"), aodh.CASES, words=_resource_types),
    "mistral": Tried(("mistral",), mistral.CASES, words=mistral.two_workflows),
    "manila": Tried(("neutron", "manila"), manila.CASES, NETWORKS),
    "keystone": Tried(("keystone",), keystone.CASES),
    "swift": Tried(("swift",), object_store.CASES),
    "cinder": Tried(
        ("cinder", "nova", "glance", "neutron"),
        (*cinder.CASES, _as_admin(VOLUME)),
        words=_compute,
    ),
    "magnum": Tried(("glance", "neutron", "nova", "magnum"), magnum.CASES, words=_coreos),
}
