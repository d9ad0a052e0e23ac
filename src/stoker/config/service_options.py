"""The options for the access to each service of the cloud."""

from __future__ import annotations

from oslo_config import cfg

CLIENT = (
    cfg.StrOpt("endpoint_type", help="Interface of endpoints in the catalog, as publicURL."),
    cfg.StrOpt("ca_file", help="File with CA certificates."),
    cfg.StrOpt("cert_file", help="File with a certificate of our own, in PEM."),
    cfg.StrOpt("key_file", help="File with the key of this certificate."),
    cfg.BoolOpt("insecure", help="Do not check certificates."),
)

# Groups about one service each, and its type. The group ``clients`` has the defaults for their
# options.
SERVICES = {
    "clients_aodh": "alarm",
    "clients_barbican": "key-manager",
    "clients_blazar": "reservation",
    "clients_cinder": "block-storage",
    "clients_designate": "dns",
    "clients_glance": "image",
    "clients_ironic": "baremetal",
    "clients_keystone": "identity",
    "clients_magnum": "container-infrastructure-management",
    "clients_manila": "shared-file-system",
    "clients_mistral": "workflow",
    "clients_monasca": "monitoring",
    "clients_neutron": "network",
    "clients_nova": "compute",
    "clients_octavia": "load-balancer",
    "clients_sahara": "data-processing",
    "clients_senlin": "clustering",
    "clients_swift": "object-store",
    "clients_trove": "database",
    "clients_vitrage": "root-cause-analysis",
    "clients_zaqar": "message",
    "clients_zun": "application-container",
}

_OF_SERVICE = {
    "clients_keystone": (
        cfg.StrOpt("auth_uri", help="URL of the identity service, if there is no auth_url."),
    )
}

SERVICE_GROUPS = {group: (*CLIENT, *_OF_SERVICE.get(group, ())) for group in SERVICES}
