"""OS::Magnum::ClusterTemplate: a template for container clusters.

Templates have no description, so they cannot hold a marker.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class ClusterTemplate(RestResource):
    """A cluster template."""

    type_name = "OS::Magnum::ClusterTemplate"
    description = "A template for container clusters."
    service = "container-infrastructure-management"
    support = since("9.0.0")
    collection = KINDS["container-infrastructure-management", "cluster_template"]
    marker_field = ""
    field_names = {
        "external_network": "external_network_id",
        "flavor": "flavor_id",
        "image": "image_id",
        "keypair": "keypair_id",
        "master_flavor": "master_flavor_id",
    }

    properties = {
        "coe": declare.choice(
            ["kubernetes", "swarm", "mesos"], "Container orchestration engine.", required=True
        ),
        "dns_nameserver": declare.checked("ip_addr", "Name server of the nodes."),
        "docker_storage_driver": declare.choice(
            ["devicemapper", "overlay"],
            "Storage driver of the containers.",
            default="devicemapper",
        ),
        "docker_volume_size": declare.at_least(1, "Size of the storage for containers in GiB."),
        "external_network": declare.by_name("neutron.network", "External network", required=True),
        "fixed_network": declare.by_name("neutron.network", "Network of the nodes"),
        "fixed_subnet": declare.by_name("neutron.subnet", "Subnet of the nodes"),
        "flavor": declare.by_name("nova.flavor", "Flavor of the nodes"),
        "floating_ip_enabled": declare.boolean("Whether nodes have floating IPs.", default=True),
        "http_proxy": declare.string("Proxy for HTTP."),
        "https_proxy": declare.string("Proxy for HTTPS."),
        "image": declare.by_name("glance.image", "Image of the nodes", required=True),
        "keypair": declare.by_name("nova.keypair", "Key pair for the nodes"),
        "labels": declare.mapping("Labels with additional settings."),
        "master_flavor": declare.by_name("nova.flavor", "Flavor of the masters"),
        "master_lb_enabled": declare.boolean(
            "Whether the masters are behind a load balancer.", default=True
        ),
        "name": declare.string("Name of the object. If not given, a name is generated."),
        "network_driver": declare.string("Network driver of the containers."),
        "no_proxy": declare.string("Addresses that are reached without a proxy."),
        "public": declare.boolean(
            "Whether all projects can use the template.", default=False, update_allowed=True
        ),
        "registry_enabled": declare.boolean("Whether there is an image registry.", default=False),
        "server_type": declare.choice(["vm", "bm"], "Type of the nodes.", default="vm"),
        "tls_disabled": declare.boolean("Whether TLS is disabled.", default=False),
        "volume_driver": declare.choice(["cinder", "rexray"], "Volume driver of the containers."),
    }

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """List all templates. Magnum cannot filter them by name."""
        return self.collection.select(call.cloud)
