"""IPsec driver without agents: services and connections are active immediately."""

from neutron_lib import constants
from neutron_vpnaas.services.vpn.service_drivers import ipsec


class LabVpnDriver(ipsec.IPsecVPNDriver):
    def _activate(self, context, vpnservice):
        self.service_plugin.set_vpnservice_status(
            context, vpnservice["id"], constants.ACTIVE, updated_pending_status=True
        )

    def _connect(self, context, connection):
        self.service_plugin.update_ipsec_site_conn_status(
            context, connection["id"], constants.ACTIVE
        )

    def create_vpnservice(self, context, vpnservice):
        super().create_vpnservice(context, vpnservice)
        self._activate(context, vpnservice)

    def update_vpnservice(self, context, old_vpnservice, vpnservice):
        super().update_vpnservice(context, old_vpnservice, vpnservice)
        self._activate(context, vpnservice)

    def create_ipsec_site_connection(self, context, connection):
        super().create_ipsec_site_connection(context, connection)
        self._connect(context, connection)

    def update_ipsec_site_connection(self, context, old_connection, connection):
        super().update_ipsec_site_connection(context, old_connection, connection)
        self._connect(context, connection)
