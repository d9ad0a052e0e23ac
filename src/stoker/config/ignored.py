"""Options of Heat, and of the libraries that it is made with, that have no effect here; and why.

The names are those of Heat's configuration reference, from its first releases to the latest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_NO_RPC = "there is no RPC: API and engine are one process"
_OWN_LOG = "lines of the log have one form; see log_format and use_json"
_ONE_PROCESS = "one process serves all APIs and drives all stacks"
_UNTIL_TIMEOUT = "what may pass is tried again until the operation's time limit"
_OWN_CACHE = "Stoker keeps in memory what it needs"
_TLS = "TLS ends at a proxy in front of the service; see the operations guide"
_ONE_CLOUD = "[keystone_authtoken] names the identity service for all requests"
_ONE_USER_SOURCE = "[keystone_authtoken] says how the identity service is reached"
_CLASSES = "Stoker has an implementation of its own, which cannot be replaced by a class of Heat's"
_PIPELINE = "there is no pipeline of middleware"
_OWN_SERVER = "the web server is part of the service"
_POOL = "the connections to the database need no tuning"
_GIVEN_UP = "Heat itself has given it up"
_BY_CATALOG = "servers get the public endpoints of the catalog"
_BOTO = "it follows from the address that servers get"
_BACKUPS = "volumes are backed up wherever the cloud does so"

_IN_DEFAULT: Mapping[str, str] = {
    _NO_RPC: """rpc_backend rpc_response_timeout rpc_conn_pool_size rpc_ping_enabled
        executor_thread_pool_size conn_pool_min_size conn_pool_ttl
        engine_life_check_timeout rpc_poll_timeout rpc_cast_timeout rpc_thread_pool_size
        rabbit_host rabbit_port rabbit_hosts rabbit_userid rabbit_password rabbit_virtual_host
        rabbit_use_ssl rabbit_ha_queues qpid_hostname qpid_port amqp_durable_queues""",
    _OWN_LOG: """logging_context_format_string logging_default_format_string
        logging_debug_format_suffix logging_exception_prefix logging_user_identity_format
        instance_format instance_uuid_format log_color verbose log_config_append
        use_syslog_rfc_format""",
    "the log goes to log_file if there is one, else to standard error": """use_stderr
        use_eventlog use_journal""",
    "the log's file may be moved away by logrotate at any time": """watch_log_file
        log_rotation_type log_rotate_interval log_rotate_interval_type max_logfile_count
        max_logfile_size_mb""",
    "the log is never cut": "rate_limit_interval rate_limit_burst rate_limit_except_level",
    "deprecated features are logged": "fatal_deprecations publish_errors",
    _ONE_PROCESS: "num_engine_workers periodic_interval periodic_fuzzy_delay onready",
    _OWN_SERVER: """backdoor_port backdoor_socket log_options graceful_shutdown_timeout
        wsgi_log_format wsgi_default_pool_size wsgi_keep_alive wsgi_server_debug tcp_keepidle
        client_socket_timeout run_external_periodic_tasks backlog workers""",
    _PIPELINE: "api_paste_config",
    _UNTIL_TIMEOUT: "action_retry_limit client_retry_limit max_interface_check_attempts",
    "what is stored is always encrypted": "encrypt_parameters_and_properties",
    "every stack has an engine that continues after a crash": "convergence_engine",
    "there are no built-in templates": "template_dir loadbalancer_template",
    "stacks act by trusts or passwords from the beginning": "reauthentication_auth_method",
    _CLASSES: "cloud_backend keystone_backend resource_plugin_dirs stack_lifecycle_plugins",
    _BY_CATALOG: "server_keystone_endpoint_type",
    _BOTO: "instance_connection_is_secure instance_connection_https_validate_certificates",
    "the CloudWatch API is always served": "enable_cloud_watch_lite",
    "[oslo_messaging_notifications] driver names all drivers": "list_notifier_drivers",
    "servers get names of up to 53 characters": "max_server_name_length",
    "requests name the oldest microversion that understands them": """max_nova_api_microversion
        max_cinder_api_microversion max_ironic_api_microversion""",
    "old events go as soon as an operation ends": "event_purge_batch_size",
    "hints that templates name are passed on, and no others": "stack_scheduler_hints",
    _GIVEN_UP: "instance_user instance_driver sqlite_db db_backend",
    _TLS: "cert_file key_file ca_file",
}

_NETWORK_SERVER = {
    _OWN_SERVER: "backlog workers tcp_keepidle",
    _TLS: "cert_file key_file",
}
_AUTH_PLUGIN = "it is a user's name and password that count"

_IN_GROUPS: Mapping[str, Mapping[str, str]] = {
    "DEFAULT": _IN_DEFAULT,
    "heat_api": _NETWORK_SERVER,
    "heat_api_cfn": _NETWORK_SERVER,
    "heat_api_cloudwatch": _NETWORK_SERVER,
    "keystone_authtoken": {
        _AUTH_PLUGIN: """auth_type auth_plugin auth_section user_id project_id tenant_id trust_id
            domain_id domain_name system_scope""",
        _OWN_CACHE: """cache memcached_servers memcache_servers memcache_security_strategy
            memcache_secret_key memcache_use_advanced_pool memcache_pool_dead_retry
            memcache_pool_maxsize memcache_pool_socket_timeout memcache_pool_unused_timeout
            memcache_pool_conn_get_timeout memcache_tls_enabled memcache_tls_cafile
            memcache_tls_certfile memcache_tls_keyfile memcache_tls_allowed_ciphers
            memcache_sasl_enabled memcache_username memcache_password signing_dir
            check_revocations_for_cached revocation_cache_time hash_algorithms""",
        "every request with a token is validated before it is answered": """delay_auth_decision
            include_service_catalog enforce_token_bind http_request_max_retries auth_version""",
        "the endpoints of tokens do not restrict what they are for": "service_type",
        "certificates of the service's own are named in [clients]": "certfile keyfile",
        "auth_url, username and password have taken its place": """identity_uri admin_user
            admin_password admin_tenant_name admin_token auth_host auth_port auth_protocol
            auth_admin_prefix""",
    },
    "trustee": {
        _AUTH_PLUGIN: """auth_type auth_plugin auth_section user_id project_id tenant_id trust_id
            domain_id domain_name system_scope""",
        _ONE_USER_SOURCE: """auth_url auth_uri www_authenticate_uri region_name interface cafile
            certfile keyfile insecure token_cache_time http_connect_timeout timeout
            collect_timing split_loggers""",
    },
    "clients_heat": {
        "it is Stoker itself that is called there": """endpoint_type ca_file cert_file key_file
            insecure""",
    },
    "database": {
        _POOL: """max_pool_size min_pool_size max_overflow pool_timeout connection_recycle_time
            idle_timeout sql_idle_timeout connection_debug connection_trace
            connection_parameters connection_poolsize db_inc_retry_interval db_max_retries
            db_max_retry_interval db_retry_interval max_retries retry_interval min_pool_size
            slave_connection mysql_sql_mode mysql_wsrep_sync_wait backend
            use_db_reconnect use_tpool asyncio_connection asyncio_slave_connection
            synchronous_reader""",
    },
    "ec2authtoken": {
        _ONE_CLOUD: """auth_uri multi_cloud allowed_auth_uris ca_file cert_file key_file insecure
            auth_type auth_plugin auth_section auth_url username password user_id user_domain_id
            user_domain_name project_id project_name project_domain_id project_domain_name
            region_name interface cafile certfile keyfile timeout""",
    },
    "auth_password": {_ONE_CLOUD: "multi_cloud allowed_auth_uris"},
    "paste_deploy": {_PIPELINE: "api_paste_config"},
    "healthcheck": {
        "clients that may read metrics see details": "detailed",
        "the check is built in": """path backends disable_by_file_paths allowed_source_ranges
            ignore_proxied_requests enable_by_file_paths""",
    },
    "oslo_middleware": {
        "max_json_body_size bounds requests": """max_request_body_size
        secure_proxy_ssl_header http_basic_auth_user_file"""
    },
    "oslo_messaging_notifications": {
        "what cannot be sent is kept, and sent later": "retry",
    },
    "cors": {
        "origins that may call may use every method and header": """allow_credentials
            expose_headers max_age allow_methods allow_headers""",
    },
    "volumes": {_BACKUPS: "backups_enabled"},
}

_WHOLE_GROUPS: Mapping[str, str] = {
    _NO_RPC: """oslo_messaging_metrics oslo_messaging_zmq oslo_messaging_qpid matchmaker_redis
        matchmaker_ring""",
    _OWN_CACHE: """cache constraint_validation_cache service_extension_cache
        resource_finder_cache""",
    _OWN_SERVER: "eventlet_opts oslo_reports oslo_concurrency heat_all",
    _TLS: "ssl",
    "traces are sent by OpenTelemetry; see the operations guide": "profiler",
    "every request needs a token": "noauth",
    "requests are logged": "audit_middleware_notifications",
}


def _by_name() -> Iterator[tuple[str, str, str]]:
    for group, reasons in _IN_GROUPS.items():
        for reason, names in reasons.items():
            for name in names.split():
                yield group, name, reason


IGNORED: dict[str, dict[str, str]] = {}  # reasons by section and option
for _group, _name, _reason in _by_name():
    IGNORED.setdefault(_group, {})[_name] = _reason

# Reasons for sections without any effective option.
IGNORED_GROUPS = {
    group: reason for reason, groups in _WHOLE_GROUPS.items() for group in groups.split()
}

# Options that a library registers when it is loaded.
ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "oslo_policy": (
        "enforce_scope",
        "enforce_new_defaults",
        "policy_file",
        "policy_default_rule",
        "policy_dirs",
        "remote_content_type",
        "remote_ssl_verify_server_crt",
        "remote_ssl_ca_crt_file",
        "remote_ssl_client_crt_file",
        "remote_ssl_client_key_file",
        "remote_timeout",
    ),
}

# Sections that oslo.messaging reads for notifications.
OF_THE_BUS = frozenset(("oslo_messaging_amqp", "oslo_messaging_kafka", "oslo_messaging_rabbit"))
