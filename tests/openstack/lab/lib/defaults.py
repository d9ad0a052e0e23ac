"""An image, flavors, networks and a key pair, with the names devstack uses."""

import os
from pathlib import Path

from conn import connect

adm, demo = connect("admin"), connect("demo")
path = Path(os.environ["DATA"], "cirros.img")
path.write_bytes(b"\0" * 1048576)
if not adm.image.find_image("cirros"):
    adm.create_image(
        "cirros",
        filename=str(path),
        disk_format="raw",
        container_format="bare",
        visibility="public",
        wait=True,
    )
for name, ram, vcpus, disk in (
    ("m1.nano", 64, 1, 1),
    ("m1.micro", 128, 1, 1),
    ("m1.tiny", 512, 1, 1),
    ("m1.small", 2048, 1, 20),
    ("m1.medium", 4096, 2, 40),
    ("m1.large", 8192, 4, 80),
):
    if not adm.compute.find_flavor(name):
        adm.compute.create_flavor(name=name, ram=ram, vcpus=vcpus, disk=disk)
n = adm.network
pub = n.find_network("public") or n.create_network(
    name="public",
    is_router_external=True,
    provider_network_type="flat",
    provider_physical_network="public",
)
if not n.find_subnet("public-subnet"):
    n.create_subnet(
        name="public-subnet",
        network_id=pub.id,
        ip_version=4,
        cidr="172.24.0.0/16",
        gateway_ip="172.24.0.1",
        enable_dhcp=False,
        allocation_pools=[{"start": "172.24.1.1", "end": "172.24.255.254"}],
    )
d = demo.network
router = d.find_router("router1") or d.create_router(
    name="router1", external_gateway_info={"network_id": pub.id}
)
private = d.find_network("private") or d.create_network(name="private")
if not d.find_subnet("private-subnet"):
    d.add_interface_to_router(
        router,
        subnet_id=d.create_subnet(
            name="private-subnet", network_id=private.id, ip_version=4, cidr="10.0.0.0/20"
        ).id,
    )
for c in (demo, adm):
    if not c.compute.find_keypair("lab"):
        c.compute.create_keypair(name="lab")
