# Neutron: ML2 with a driver that binds every port at once (drivers/labdrivers/ml2.py), no agents, no packets.
# Plugins (neutron-vpnaas, networking-sfc, tap-as-a-service) are loaded when installed in its environment.
PORT=9696 PIP=neutron DBS=neutron
OBJECTS='neutron service neutron network http://127.0.0.1:9696'
CONFS="--config-file $E/neutron.conf --config-file $E/ml2_conf.ini"
post_install() { drivers neutron; }
has() { [ -e $DONE/install-$1 ]; }
configure() {
    local plugins=router,qos,trunk,segments,auto_allocate,port_forwarding,tag,metering providers=
    ! has neutron-vpnaas || { plugins+=,vpnaas; providers+="service_provider = VPN:lab:labdrivers.vpn.LabVpnDriver:default"$'\n'; }
    ! has networking-sfc || plugins+=,flow_classifier,sfc
    ! has tap-as-a-service || { plugins+=,taas; providers+="service_provider = TAAS:lab:neutron_taas.services.taas.service_drivers.taas_rpc.TaasRpcDriver:default"$'\n'; }
    cat > $E/neutron.conf <<C
[DEFAULT]
$(common)
state_path = $D
core_plugin = ml2
service_plugins = $plugins
api_paste_config = $V/etc/neutron/api-paste.ini
dhcp_agent_notification = false
notify_nova_on_port_status_changes = true
notify_nova_on_port_data_changes = true
allow_automatic_dhcp_failover = false
max_subnet_host_routes = 500
# with the domain that is set by default the names of ports are thrown away
dns_domain = lab.example.
[service_providers]
$providers
[sfc]
drivers = dummy
[flowclassifier]
drivers = dummy
[database]
connection = $(db neutron)
[quotas]
default_quota = -1
$(for q in network subnet port router floatingip security_group security_group_rule trunk; do echo "quota_$q = -1"; done)
[nova]
$(auth nova)
[placement]
$(auth placement)
$(authtoken neutron)
$(tail_common)
C
    cat > $E/ml2_conf.ini <<C
[ml2]
type_drivers = local,flat,vlan,vxlan
tenant_network_types = vxlan
mechanism_drivers = lab
extension_drivers = port_security,qos,dns_domain_ports
[ml2_type_flat]
flat_networks = *
[ml2_type_vlan]
network_vlan_ranges = public,physnet1:100:1999
[ml2_type_vxlan]
vni_ranges = 1:65535
[securitygroup]
enable_security_group = true
C
}
migrate() { $V/bin/neutron-db-manage $CONFS "$@" upgrade heads; }
init() { migrate --subproject neutron; }
launch() {
    local p
    for p in neutron-vpnaas networking-sfc tap-as-a-service; do ! has $p || once init-neutron.$p migrate --subproject $p; done
    OS_NEUTRON_CONFIG_DIR=$E OS_NEUTRON_CONFIG_FILES="neutron.conf;ml2_conf.ini" \
        wsgi api 9696 2 8 neutron.wsgi.api:application $CONFS
    waitup api http://127.0.0.1:9696/
}
