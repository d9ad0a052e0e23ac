"""A network driver of Octavia that does nothing, and remembers networks.

The one that comes with Octavia loses track of networks between the creation and the deletion of a
member (KeyError in CalculateDelta). Here a subnet has the same network each time, and each network
that was asked about counts as plugged.
"""

import uuid

from octavia.network import data_models
from octavia.network.drivers.noop_driver import driver as noop


class LabNetworkDriver(noop.NoopNetworkDriver):
    nets = set()

    def get_subnet(self, subnet_id, context=None):
        s = super().get_subnet(subnet_id, context)
        if subnet_id:
            s.network_id = str(uuid.uuid5(uuid.NAMESPACE_OID, subnet_id))
            self.nets.add(s.network_id)
        return s

    def get_plugged_networks(self, compute_id):
        have = list(super().get_plugged_networks(compute_id))
        ids = {i.network_id for i in have}
        return have + [
            data_models.Interface(
                compute_id=compute_id,
                network_id=n,
                port_id=str(uuid.uuid5(uuid.NAMESPACE_OID, n)),
                fixed_ips=[],
            )
            for n in self.nets - ids
        ]
