"""ML2 driver without agents.

Every port with a host binds immediately and becomes ACTIVE; trunks become ACTIVE immediately; QoS
rules are accepted.
"""

from neutron.services.trunk.drivers import base as trunk_base
from neutron_lib import constants as const
from neutron_lib.api.definitions import portbindings
from neutron_lib.callbacks import events, registry, resources
from neutron_lib.db import constants as db_const
from neutron_lib.plugins.ml2 import api
from neutron_lib.services.qos import base as qos_base
from neutron_lib.services.qos import constants as qos_const
from neutron_lib.services.trunk import constants as trunk_const

ANY_INT = {"type:range": [0, db_const.DB_INTEGER_MAX_VALUE]}
DIRS = {"type:values": const.VALID_DIRECTIONS}
RULES = {
    qos_const.RULE_TYPE_BANDWIDTH_LIMIT: {
        qos_const.MAX_KBPS: ANY_INT,
        qos_const.MAX_BURST: ANY_INT,
        qos_const.DIRECTION: DIRS,
    },
    qos_const.RULE_TYPE_DSCP_MARKING: {
        qos_const.DSCP_MARK: {"type:values": const.VALID_DSCP_MARKS}
    },
    qos_const.RULE_TYPE_MINIMUM_BANDWIDTH: {qos_const.MIN_KBPS: ANY_INT, qos_const.DIRECTION: DIRS},
}


class LabQos(qos_base.DriverBase):
    @property
    def is_loaded(self):
        return True


class LabTrunk(trunk_base.DriverBase):
    @property
    def is_loaded(self):
        return True

    @registry.receives(resources.TRUNK_PLUGIN, [events.AFTER_INIT])
    def register(self, resource, event, trigger, payload=None):
        super().register(resource, event, trigger, payload=payload)
        registry.subscribe(self._up, resources.TRUNK, events.AFTER_CREATE)
        registry.subscribe(self._up, resources.SUBPORTS, events.AFTER_CREATE)
        registry.subscribe(self._up, resources.SUBPORTS, events.AFTER_DELETE)

    def _up(self, resource, event, trigger, payload):
        trunk = payload.states[0] if payload.states else payload.latest_state
        trunk.update(status=trunk_const.TRUNK_ACTIVE_STATUS)


class LabMechanismDriver(api.MechanismDriver):
    def initialize(self):
        self.qos = LabQos(
            name="lab",
            vif_types=[portbindings.VIF_TYPE_OVS, portbindings.VIF_TYPE_UNBOUND],
            vnic_types=[portbindings.VNIC_NORMAL, portbindings.VNIC_DIRECT],
            supported_rules=RULES,
            requires_rpc_notifications=False,
        )
        self.trunk = LabTrunk(
            "lab", (portbindings.VIF_TYPE_OVS,), (trunk_const.SEGMENTATION_TYPE_VLAN,)
        )

    def bind_port(self, context):
        for seg in context.segments_to_bind:
            context.set_binding(
                seg[api.ID],
                portbindings.VIF_TYPE_OVS,
                {
                    portbindings.CAP_PORT_FILTER: True,
                    portbindings.VIF_DETAILS_CONNECTIVITY: portbindings.CONNECTIVITY_L2,
                },
                status=const.PORT_STATUS_ACTIVE,
            )
            return
