"""Every option, once. Names and defaults are those of Heat where Heat has the option,
so that a ``heat.conf`` can be read as it is; what it holds beyond these options is ignored.

The group ``oslo_policy`` is registered by oslo.policy itself. Importing oslo.config takes about
0.1 s; nothing else is imported here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from oslo_config import cfg

MEBIBYTE = 1024 * 1024

_SERVICE = (
    cfg.StrOpt("data_dir", default="", help="Directory of the database and of generated keys."),
    cfg.StrOpt("host", default="localhost", help="Name of this machine in the list of engines."),
    cfg.BoolOpt("debug", default=False, help="Log more, and send tracebacks to clients."),
    cfg.StrOpt("log_file", help="File for the log instead of standard error."),
    cfg.StrOpt("region_name_for_services", help="Region of the services that stacks use."),
    cfg.StrOpt("region_name_for_shared_services", help="Region of services shared by regions."),
    cfg.StrOpt(
        "server_keystone_endpoint_type",
        default="",
        help="Interface of the identity endpoint that servers are told; empty: the public one.",
    ),
    cfg.StrOpt(
        "heat_metadata_server_url",
        help="URL of the CloudFormation API, as servers reach it. Empty: from the catalog.",
    ),
    cfg.StrOpt(
        "heat_waitcondition_server_url",
        help="URL for wait condition signals, as servers reach it. Empty: from the catalog.",
    ),
    cfg.StrOpt("heat_watch_server_url", default="", help="URL of the CloudWatch endpoint."),
    cfg.StrOpt("instance_connection_is_secure", default="0", help="Whether servers use HTTPS."),
    cfg.StrOpt(
        "instance_connection_https_validate_certificates",
        default="1",
        help="Whether servers check certificates.",
    ),
    cfg.StrOpt("default_software_config_transport", default="POLL_SERVER_CFN"),
    cfg.StrOpt("default_deployment_signal_transport", default="CFN_SIGNAL"),
    cfg.StrOpt("default_user_data_format", default="HEAT_CONFIG"),
)

_LIMITS = (
    cfg.IntOpt("max_stacks_per_tenant", default=512, help="-1: unlimited."),
    cfg.IntOpt("max_resources_per_stack", default=1000, help="-1: unlimited."),
    cfg.IntOpt("max_template_size", default=524288, help="In bytes."),
    cfg.IntOpt("max_json_body_size", default=MEBIBYTE, help="In bytes."),
    cfg.IntOpt("max_nested_stack_depth", default=5, help="Levels of nested stacks."),
    cfg.IntOpt("max_events_per_stack", default=1000, help="Older events are removed."),
    cfg.IntOpt("max_snapshots_per_stack", default=32, help="-1: unlimited."),
    cfg.IntOpt(
        "purge_deleted_after",
        default=90,
        min=-1,
        help="Days after which deleted stacks are purged; -1: never.",
    ),
    cfg.IntOpt(
        "purge_history_after",
        default=365,
        min=-1,
        help="Days after which events and ended operations are purged; -1: never.",
    ),
    cfg.IntOpt("max_software_configs_per_tenant", default=4096, help="-1: unlimited."),
    cfg.IntOpt("max_software_deployments_per_tenant", default=4096, help="-1: unlimited."),
    cfg.IntOpt("max_interface_check_attempts", default=10),
    cfg.IntOpt("stack_action_timeout", default=3600, help="In seconds."),
    cfg.IntOpt(
        "error_wait_time",
        default=240,
        help="Seconds that running actions get to finish after a failure.",
    ),
    cfg.IntOpt("client_retry_limit", default=2),
    cfg.FloatOpt(
        "cloud_request_timeout",
        default=60.0,
        min=1.0,
        help="Timeout of a request to the cloud, in seconds. After a lost answer, the object is"
        " looked for up to twice as long before it is created again.",
    ),
    cfg.IntOpt("num_engine_workers", help="Threads for calls to the cloud."),
)

_BEHAVIOUR = (
    cfg.BoolOpt("enable_stack_abandon", default=False, help="Let users export and abandon stacks."),
    cfg.BoolOpt("enable_stack_adopt", default=False, help="Let users adopt abandoned stacks."),
    cfg.BoolOpt("encrypt_parameters_and_properties", default=False),
    cfg.BoolOpt(
        "observe_on_update",
        default=False,
        help="Let updates converge with what is live unless they say otherwise.",
    ),
    cfg.BoolOpt("convergence_engine", default=True, help="Always on; read for compatibility."),
    cfg.ListOpt(
        "hidden_stack_tags",
        default=["data-processing-cluster"],
        help="Stacks with one of these tags are left out of lists.",
    ),
    cfg.ListOpt(
        "plugin_dirs",
        default=["/usr/lib64/heat", "/usr/lib/heat"],
        help="Directories with resource types of your own.",
    ),
    cfg.StrOpt(
        "environment_dir",
        default="/etc/heat/environment.d",
        help="Environment files whose resource_registry applies to all stacks.",
    ),
    cfg.StrOpt("template_dir", default="/etc/heat/templates"),
    cfg.BoolOpt("allow_template_url", default=True, help="Fetch templates by URL for clients."),
    cfg.ListOpt(
        "template_url_allowed_hosts",
        default=[],
        help="Allowed besides public addresses: networks, addresses, names, or .domain.",
    ),
    cfg.FloatOpt("template_fetch_timeout", default=60.0, help="In seconds."),
)

_DEFERRED = (
    cfg.StrOpt("deferred_auth_method", default="trusts", choices=["password", "trusts"]),
    cfg.ListOpt("trusts_delegated_roles", default=[], help="Empty: all roles of the user."),
    cfg.BoolOpt(
        "allow_trusts_redelegation",
        default=False,
        help="Let trusts create trusts; OS::Heat::Stack needs it.",
    ),
    cfg.StrOpt("reauthentication_auth_method", default="", choices=["", "trusts"]),
    cfg.StrOpt(
        "heat_stack_user_role", default="heat_stack_user", help="Role of the users of stacks."
    ),
    cfg.StrOpt("stack_user_domain_id", help="Takes precedence over the name."),
    cfg.StrOpt("stack_user_domain_name", help="Domain of the users that servers signal with."),
    cfg.StrOpt("stack_domain_admin", help="User that manages this domain."),
    cfg.StrOpt("stack_domain_admin_password", secret=True),
    cfg.StrOpt(
        "auth_encryption_key",
        secret=True,
        help="Empty: the key file secret.key in the data directory.",
    ),
)

_LISTENER = (
    cfg.HostAddressOpt("bind_host", default="0.0.0.0"),  # noqa: S104 - as Heat has it
    cfg.IntOpt("workers", default=0),
    cfg.IntOpt(
        "max_header_line",
        default=16384,
        min=1024,
        help="In bytes; all headers of a request together: four times this.",
    ),
    cfg.IntOpt("max_connections", default=1000, min=1, help="Open connections."),
    cfg.IntOpt(
        "max_connections_per_address",
        default=250,
        min=1,
        help="Open connections from one client. Behind a proxy, all come from its address.",
    ),
)

_AUTH = (
    cfg.StrOpt("auth_type"),
    cfg.StrOpt("auth_url", help="URL of the identity service."),
    cfg.StrOpt("auth_uri", help="Old name of www_authenticate_uri."),
    cfg.StrOpt("www_authenticate_uri"),
    cfg.StrOpt(
        "username",
        deprecated_name="user_name",
        help="Service user: validates tokens. In [trustee]: acts for the users of stacks.",
    ),
    cfg.StrOpt("password", secret=True),
    cfg.StrOpt("user_domain_id"),
    cfg.StrOpt("user_domain_name"),
    cfg.StrOpt("project_name", deprecated_name="tenant_name"),
    cfg.StrOpt("project_domain_id"),
    cfg.StrOpt("project_domain_name"),
    cfg.StrOpt("region_name"),
    cfg.StrOpt("interface", help="Interface of endpoints in the catalog."),
    cfg.StrOpt("cafile", help="File with CA certificates."),
    cfg.BoolOpt("insecure", default=False, help="Do not check certificates."),
    cfg.IntOpt(
        "token_cache_time",
        default=30,
        help="Seconds for which a revoked token may still be accepted.",
    ),
    cfg.IntOpt("http_connect_timeout", help="In seconds."),
)

_CLIENT = (
    cfg.StrOpt("endpoint_type", help="Interface of endpoints in the catalog."),
    cfg.StrOpt("ca_file", help="File with CA certificates."),
    cfg.StrOpt("cert_file"),
    cfg.StrOpt("key_file"),
    cfg.BoolOpt("insecure", help="Do not check certificates."),
    cfg.StrOpt("auth_uri"),
    cfg.StrOpt("url", help="URL to use instead of the one in the catalog."),
)


def _listener(port: int) -> tuple[Any, ...]:
    return (*_LISTENER, cfg.PortOpt("bind_port", default=port))


GROUPS: dict[str, tuple[Any, ...]] = {
    "DEFAULT": (*_SERVICE, *_LIMITS, *_BEHAVIOUR, *_DEFERRED),
    "heat_api": _listener(8004),
    "heat_api_cfn": _listener(8000),
    "heat_api_cloudwatch": _listener(8003),
    "keystone_authtoken": _AUTH,
    "trustee": _AUTH,
    "clients": _CLIENT,
    "clients_keystone": _CLIENT,
    "clients_heat": _CLIENT,
    "database": (
        cfg.StrOpt("connection", secret=True, help="Empty: SQLite in the data directory."),
        cfg.IntOpt("max_pool_size", default=5),
    ),
    "ec2authtoken": (
        cfg.StrOpt("auth_uri"),
        cfg.BoolOpt("multi_cloud", default=False),
        cfg.ListOpt("allowed_auth_uris", default=[]),
    ),
    "paste_deploy": (
        cfg.StrOpt("flavor", help="standalone: clients may send a password instead of a token."),
    ),
    "oslo_middleware": (
        cfg.BoolOpt(
            "enable_proxy_headers_parsing",
            default=False,
            help="Trust X-Forwarded-* headers; for use behind a proxy.",
        ),
    ),
    "oslo_messaging_notifications": (
        cfg.MultiStrOpt("driver", default=[]),
        cfg.StrOpt("transport_url", secret=True),
        cfg.ListOpt("topics", default=["notifications"]),
    ),
    "cors": (
        cfg.ListOpt("allowed_origin", default=[], help="Origins of web pages that may call."),
    ),
    "yaql": (
        cfg.IntOpt("limit_iterators", default=200, help="Iterations of one expression."),
        cfg.IntOpt("memory_quota", default=10000, help="Bytes of intermediate data."),
    ),
    "revision": (cfg.StrOpt("heat_revision", default="unknown", help="Shown by build_info."),),
    "volumes": (cfg.BoolOpt("backups_enabled", default=True),),
}
"""All options, by section."""


_CLIENT_NAMES = ("endpoint_type", "cert_file", "key_file", "auth_uri", "url")
_LISTENER_NAMES = (
    "bind_host",
    "bind_port",
    "workers",
    "max_header_line",
    "max_connections",
    "max_connections_per_address",
)
NOT_HONOURED: dict[str, tuple[str, ...]] = {
    "DEFAULT": (
        "region_name_for_shared_services",
        "server_keystone_endpoint_type",
        "heat_watch_server_url",
        "instance_connection_is_secure",
        "instance_connection_https_validate_certificates",
        "default_software_config_transport",
        "default_deployment_signal_transport",
        "default_user_data_format",
        "max_interface_check_attempts",
        "client_retry_limit",
        "num_engine_workers",
        "encrypt_parameters_and_properties",
        "convergence_engine",
        "template_dir",
        "deferred_auth_method",
        "reauthentication_auth_method",
    ),
    "heat_api": _LISTENER_NAMES[:3],
    "heat_api_cfn": _LISTENER_NAMES[:3],
    "heat_api_cloudwatch": _LISTENER_NAMES,
    "keystone_authtoken": ("auth_type",),
    "trustee": (
        "auth_type",
        "auth_url",
        "auth_uri",
        "www_authenticate_uri",
        "region_name",
        "interface",
        "cafile",
        "insecure",
        "token_cache_time",
        "http_connect_timeout",
    ),
    "clients": _CLIENT_NAMES[1:],
    "clients_keystone": tuple(name for name in _CLIENT_NAMES if name != "auth_uri"),
    "clients_heat": ("ca_file", "insecure", *_CLIENT_NAMES[:-1]),
    "database": ("max_pool_size",),
    "ec2authtoken": ("auth_uri", "multi_cloud", "allowed_auth_uris"),
    "oslo_messaging_notifications": ("driver", "transport_url", "topics"),
    "volumes": ("backups_enabled",),
}
"""Options that are known and have no effect: a file that sets one is told so."""


def without_effect(conf: Any) -> list[str]:
    """The options of files that have no effect, as ``[group] name``."""
    return [
        f"[{group}] {name}"
        for group, names in NOT_HONOURED.items()
        for name in names
        if _is_from_file(conf, group, name)
    ]


def _is_from_file(conf: Any, group: str, name: str) -> bool:
    found = conf.get_location(name, None if group == "DEFAULT" else group)
    return found is not None and found.location is cfg.Locations.user


def load(files: Sequence[Path] = (), arguments: Sequence[str] = ()) -> Any:
    """The options (an ``oslo_config.cfg.ConfigOpts``) as the given files, in order, set them.

    Raises ``oslo_config.cfg.Error`` naming the file or the option that is wrong.
    """
    conf = cfg.ConfigOpts()
    for group, options in GROUPS.items():
        conf.register_opts(options, group=None if group == "DEFAULT" else group)
    conf(list(arguments), project="stoker", default_config_files=[str(f) for f in files])
    return conf
