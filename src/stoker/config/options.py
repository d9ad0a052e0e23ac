"""Every option that has an effect, once.

Names and defaults are those of Heat where Heat has the option, so that a ``heat.conf`` can be read
as it is. Heat's other options are in :mod:`stoker.config.ignored`. The group ``oslo_policy`` is
registered by oslo.policy itself. Importing oslo.config takes about 0.1 s; nothing else is imported
here.
"""

from __future__ import annotations

from typing import Any

from oslo_config import cfg

from stoker.config.service_options import CLIENT, SERVICE_GROUPS

MEBIBYTE = 1024 * 1024

_SERVICE = (
    cfg.StrOpt("data_dir", default="", help="Directory of the database and of generated keys."),
    cfg.StrOpt(
        "host", help="Name of this machine in the list of engines, if not the one that it has."
    ),
    cfg.BoolOpt("debug", default=False, help="Log more, and send tracebacks to clients."),
    cfg.StrOpt("region_name_for_services", help="Region of the services that stacks use."),
    cfg.StrOpt("region_name_for_shared_services", help="Region of services shared by regions."),
    cfg.ListOpt(
        "shared_services_types",
        default=["image", "volume", "volumev3"],
        help="The shared services, by their types in the catalog.",
    ),
    cfg.StrOpt(
        "heat_metadata_server_url",
        help="URL of the CloudFormation API, as servers reach it. Empty: from the catalog.",
    ),
    cfg.StrOpt(
        "heat_waitcondition_server_url",
        help="URL for wait condition signals, as servers reach it. Empty: from the catalog.",
    ),
    cfg.StrOpt(
        "heat_watch_server_url",
        default="",
        help="URL of the CloudWatch API, as servers reach it. Empty: from the catalog.",
    ),
    cfg.StrOpt(
        "default_software_config_transport",
        default="POLL_SERVER_CFN",
        choices=["POLL_SERVER_CFN", "POLL_SERVER_HEAT", "POLL_TEMP_URL", "ZAQAR_MESSAGE"],
        help="How servers get their software deployments, unless the template says so.",
    ),
    cfg.StrOpt(
        "default_deployment_signal_transport",
        default="CFN_SIGNAL",
        choices=["CFN_SIGNAL", "TEMP_URL_SIGNAL", "HEAT_SIGNAL", "ZAQAR_SIGNAL"],
        help="How servers report on software deployments, unless the template says so.",
    ),
    cfg.StrOpt(
        "default_user_data_format",
        default="HEAT_CFNTOOLS",
        choices=["HEAT_CFNTOOLS", "RAW", "SOFTWARE_CONFIG"],
        help="How user data is handed over to servers, unless the template says so.",
    ),
)

_LOG = (
    cfg.StrOpt(
        "log_file",
        deprecated_name="logfile",
        help="File for the log instead of standard error; it may be moved away at any time.",
    ),
    cfg.StrOpt("log_dir", deprecated_name="logdir", help="Directory of a relative log_file."),
    cfg.BoolOpt("use_json", default=False, help="One JSON object for each line of the log."),
    cfg.StrOpt(
        "log_format",
        default="%(asctime)s %(levelname)s %(name)s: %(message)s",
        help="Form of a line, in the terms of Python's logging; use_json goes over it.",
    ),
    cfg.StrOpt(
        "log_date_format",
        help="Form of dates, in the terms of strftime. Default: date, time and milliseconds.",
    ),
    cfg.ListOpt(
        "default_log_levels",
        default=[],
        help="Levels of single loggers, as stoker.engine=WARNING.",
    ),
    cfg.BoolOpt("use_syslog", default=False, help="Log to the system's log, too."),
    cfg.StrOpt("syslog_log_facility", default="LOG_USER", help="Facility of the system's log."),
)

_LIMITS = (
    cfg.IntOpt(
        "max_stacks_per_tenant",
        default=512,
        help="Live stacks of a project, nested ones not counted. -1: unlimited.",
    ),
    cfg.IntOpt(
        "max_resources_per_stack",
        default=1000,
        help="Resources of a stack with all stacks nested in it. -1: unlimited.",
    ),
    cfg.IntOpt("max_template_size", default=524288, help="Size of a template, in bytes."),
    cfg.IntOpt("max_json_body_size", default=MEBIBYTE, help="Size of a request, in bytes."),
    cfg.IntOpt("max_nested_stack_depth", default=5, help="Levels of nested stacks."),
    cfg.IntOpt(
        "max_events_per_stack",
        default=1000,
        help="Events of a stack; older ones are removed.",
    ),
    cfg.IntOpt("max_signal_size", default=MEBIBYTE, help="Size of a signal, in bytes."),
    cfg.IntOpt(
        "max_signals_size_per_resource",
        default=4 * MEBIBYTE,
        help="Size of all signals that a resource keeps, in bytes.",
    ),
    cfg.IntOpt(
        "max_values_size_per_stack",
        default=32 * MEBIBYTE,
        help="Size of the properties and attributes of a stack's resources, in bytes. Of the stacks"
        " nested in each other together: eight times this. Of the signals to the resources of a"
        " stack: the same.",
    ),
    cfg.BoolOpt(
        "verify_incremental",
        default=False,
        help="Compute each incremental evaluation and plan in full as well. If they differ, use the"
        " full one, and log the difference.",
    ),
    cfg.IntOpt("max_snapshots_per_stack", default=32, help="Snapshots of a stack. -1: unlimited."),
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
    cfg.IntOpt(
        "max_software_configs_per_tenant",
        default=4096,
        help="Software configs of a project. -1: unlimited.",
    ),
    cfg.IntOpt(
        "max_software_deployments_per_tenant",
        default=4096,
        help="Software deployments of a project. -1: unlimited.",
    ),
    cfg.IntOpt(
        "max_software_size_per_tenant",
        default=256 * MEBIBYTE,
        help="Size of a project's software configs and deployments, in bytes. -1: unlimited.",
    ),
    cfg.IntOpt(
        "stack_action_timeout",
        default=3600,
        help="Time limit of an operation for stacks that name none, in seconds.",
    ),
    cfg.IntOpt(
        "error_wait_time",
        default=240,
        help="Seconds that running actions get to finish after a failure.",
    ),
    cfg.FloatOpt(
        "cloud_request_timeout",
        default=60.0,
        min=1.0,
        help="Timeout of a request to the cloud, in seconds. After a lost answer, the object is"
        " looked for up to twice as long before it is created again.",
    ),
)

_BEHAVIOUR = (
    cfg.BoolOpt("enable_stack_abandon", default=False, help="Let users export and abandon stacks."),
    cfg.BoolOpt("enable_stack_adopt", default=False, help="Let users adopt abandoned stacks."),
    cfg.BoolOpt(
        "observe_on_update",
        default=False,
        help="Let updates converge with what is live unless they say otherwise.",
    ),
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
        help="Environment files that apply to all stacks, each after the one before it by name.",
    ),
    cfg.BoolOpt("allow_template_url", default=True, help="Fetch templates by URL for clients."),
    cfg.ListOpt(
        "template_url_allowed_hosts",
        default=[],
        help="Allowed besides public addresses: networks, addresses, names, or .domain.",
    ),
    cfg.ListOpt(
        "other_clouds_allowed_hosts",
        default=[],
        help="The same for the clouds of OS::Heat::Stack with credential_secret_id.",
    ),
    cfg.FloatOpt("template_fetch_timeout", default=60.0, help="In seconds."),
)

_NOTIFICATIONS = (
    cfg.StrOpt(
        "default_notification_level",
        default="INFO",
        help="Level of notifications without an error; the topic ends in it.",
    ),
    cfg.StrOpt(
        "default_publisher_id", help="Publisher of notifications. Empty: orchestration.HOST."
    ),
    cfg.IntOpt(
        "max_waiting_notifications",
        default=50_000,
        min=1,
        help="Kept while the message bus is away; older ones are dropped.",
    ),
    cfg.StrOpt(
        "transport_url",
        secret=True,
        help="URL of the message bus for notifications; there is no RPC.",
    ),
    cfg.StrOpt("control_exchange", default="heat", help="Exchange of notifications."),
)

_DEFERRED = (
    cfg.StrOpt(
        "deferred_auth_method",
        default="trusts",
        choices=["trusts", "password"],
        help="How stacks act after a request: by trusts, or with the password in X-Auth-Key.",
    ),
    cfg.ListOpt(
        "trusts_delegated_roles",
        default=[],
        help="Roles that trusts give to the service. Empty: all roles of the user.",
    ),
    cfg.BoolOpt(
        "allow_trusts_redelegation",
        default=False,
        help="Let trusts create trusts; OS::Heat::Stack needs it in other regions.",
    ),
    cfg.StrOpt(
        "authentication_backend",
        default="",
        help="Entry point of a package that authenticates requests. Empty: the identity service.",
    ),
    cfg.StrOpt(
        "heat_stack_user_role", default="heat_stack_user", help="Role of the users of stacks."
    ),
    cfg.StrOpt("stack_user_domain_id", help="Takes precedence over the name."),
    cfg.StrOpt("stack_user_domain_name", help="Domain of the users that servers signal with."),
    cfg.StrOpt("stack_domain_admin", help="User that manages this domain."),
    cfg.StrOpt("stack_domain_admin_password", secret=True, help="Password of this user."),
    cfg.StrOpt(
        "auth_encryption_key",
        secret=True,
        help="Encrypts what is stored. Empty: the key file secret.key in the data directory.",
    ),
    cfg.MultiStrOpt(
        "previous_auth_encryption_key",
        default=[],
        secret=True,
        help="A key that rows may still be encrypted with; see the operations guide.",
    ),
)

_LISTENER = (
    cfg.HostAddressOpt(
        "bind_host",
        deprecated_group="DEFAULT",
        default="127.0.0.1",
        help="Address to listen on, unless the command line names one. Heat's default is 0.0.0.0.",
    ),
    cfg.IntOpt(
        "max_header_line",
        deprecated_group="DEFAULT",
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


def _listener(port: int) -> tuple[Any, ...]:
    return (
        *_LISTENER,
        cfg.PortOpt(
            "bind_port",
            deprecated_group="DEFAULT",
            default=port,
            help="Port to listen on, unless the command line names one.",
        ),
    )


_USER = (
    cfg.StrOpt(
        "username",
        deprecated_opts=[cfg.DeprecatedOpt("user_name"), cfg.DeprecatedOpt("user-name")],
        help="Service user: validates tokens. In [trustee]: acts for the users of stacks.",
    ),
    cfg.StrOpt("password", secret=True, help="Password of this user."),
    cfg.StrOpt("user_domain_id", help="Domain of this user; takes precedence over the name."),
    cfg.StrOpt("user_domain_name", help="Domain of this user. Default: Default."),
    cfg.StrOpt(
        "project_name",
        deprecated_opts=[cfg.DeprecatedOpt("tenant_name"), cfg.DeprecatedOpt("tenant-name")],
        help="Project that tokens of this user are for.",
    ),
    cfg.StrOpt("project_domain_id", help="Domain of the project; takes precedence over the name."),
    cfg.StrOpt("project_domain_name", help="Domain of the project. Default: Default."),
    cfg.StrOpt("default_domain_id", help="Domain of user and project that name none."),
    cfg.StrOpt("default_domain_name", help="Domain of user and project that name none."),
)

_IDENTITY = (
    cfg.StrOpt("auth_url", help="URL of the identity service."),
    cfg.StrOpt("auth_uri", help="Old name of www_authenticate_uri."),
    cfg.StrOpt("www_authenticate_uri", help="Where clients without a token are sent."),
    *_USER,
    cfg.StrOpt("region_name", help="Region of the identity service and of all others."),
    cfg.StrOpt("interface", help="Interface of endpoints in the catalog."),
    cfg.StrOpt("cafile", help="File with CA certificates."),
    cfg.BoolOpt("insecure", default=False, help="Do not check certificates."),
    cfg.IntOpt(
        "token_cache_time",
        default=30,
        help="Seconds for which a revoked token may still be accepted.",
    ),
    cfg.ListOpt(
        "service_token_roles",
        default=["service"],
        help="Roles of services that may continue with expired tokens of users.",
    ),
    cfg.BoolOpt(
        "service_token_roles_required",
        default=False,
        help="Refuse requests with a service token that has none of these roles.",
    ),
    cfg.IntOpt("http_connect_timeout", help="In seconds."),
)

# All options, by section.
GROUPS: dict[str, tuple[Any, ...]] = {
    "DEFAULT": (*_SERVICE, *_LOG, *_LIMITS, *_BEHAVIOUR, *_DEFERRED, *_NOTIFICATIONS),
    "heat_api": _listener(8004),
    "heat_api_cfn": _listener(8000),
    "heat_api_cloudwatch": _listener(8003),
    "keystone_authtoken": _IDENTITY,
    "trustee": _USER,
    "clients": CLIENT,
    **SERVICE_GROUPS,
    "clients_heat": (
        cfg.StrOpt("url", help="URL of the API as servers reach it. Empty: from the catalog."),
    ),
    "database": (
        cfg.StrOpt(
            "connection",
            deprecated_opts=[
                cfg.DeprecatedOpt("sql_connection", group="DEFAULT"),
                cfg.DeprecatedOpt("sql_connection", group="DATABASE"),
            ],
            secret=True,
            help="URL of the database. Empty: an SQLite file in the data directory.",
        ),
        cfg.BoolOpt(
            "sqlite_synchronous",
            help="Whether SQLite waits for the disk at each commit. By default it writes commits in"
            " order, and a power failure may lose the last ones. False may damage the file then.",
        ),
    ),
    "paste_deploy": (
        cfg.StrOpt(
            "flavor",
            help="standalone: clients may send a password instead of a token."
            " custombackend: authentication_backend says who authenticates.",
        ),
    ),
    "healthcheck": (
        cfg.StrOpt(
            "disable_by_file_path",
            help="While this file exists, /healthcheck answers 503: send nothing new here.",
        ),
    ),
    "metrics": (
        cfg.ListOpt(
            "allowed_addresses",
            default=["127.0.0.0/8", "::1"],
            help="Networks that may read /metrics and the details of /healthcheck.",
        ),
        cfg.StrOpt(
            "token",
            secret=True,
            help="Who sends it as a bearer token may read them from anywhere.",
        ),
    ),
    "opentelemetry": (
        cfg.StrOpt(
            "endpoint",
            help="URL that takes traces by OTLP over HTTP, as http://collector:4318/v1/traces."
            " Empty: nothing is traced. Needs the extra stoker[otel].",
        ),
        cfg.StrOpt("service_name", default="stoker", help="Name of this service in traces."),
        cfg.FloatOpt(
            "ratio",
            default=1.0,
            min=0.0,
            max=1.0,
            help="Share of requests that are traced, where the client does not decide.",
        ),
    ),
    "oslo_middleware": (
        cfg.BoolOpt(
            "enable_proxy_headers_parsing",
            default=False,
            help="Trust X-Forwarded-* headers; for use behind a proxy.",
        ),
    ),
    "oslo_messaging_notifications": (
        cfg.MultiStrOpt(
            "driver",
            default=[],
            deprecated_opts=[cfg.DeprecatedOpt("notification_driver", group="DEFAULT")],
            help="How notifications leave: messagingv2, messaging, log, routing. Empty: none are"
            " made. Options of oslo.messaging, as in [oslo_messaging_rabbit], are read, too.",
        ),
        cfg.StrOpt(
            "transport_url",
            secret=True,
            help="URL of the message bus. Empty: transport_url in [DEFAULT].",
        ),
        cfg.ListOpt(
            "topics",
            default=["notifications"],
            deprecated_opts=[cfg.DeprecatedOpt("notification_topics", group="DEFAULT")],
            help="A queue for each, and each level.",
        ),
    ),
    "cors": (
        cfg.ListOpt("allowed_origin", default=[], help="Origins of web pages that may call."),
    ),
    "console": (
        cfg.BoolOpt("enabled", default=True, help="Serve the console under /console."),
        cfg.StrOpt("horizon_url", help="URL of Horizon, for a link in the console."),
        cfg.StrOpt("skyline_url", help="URL of Skyline, for a link in the console."),
    ),
    "yaql": (
        cfg.IntOpt("limit_iterators", default=200, help="Iterations of one expression."),
        cfg.IntOpt("memory_quota", default=10000, help="Bytes of intermediate data."),
    ),
    "revision": (cfg.StrOpt("heat_revision", default="unknown", help="Shown by build_info."),),
}
