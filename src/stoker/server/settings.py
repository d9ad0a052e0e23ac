"""The settings of a process, read from its options once, when it starts.

Takes the options of oslo.config, whose values have no types, and returns frozen values of each
part. No other module of the service reads an option afterwards, but for two libraries: oslo.policy
and plug-ins for authentication are called with the options themselves.

Called by the commands that start a process. Tested by tests/project/test_options.py and
test_config_files.py.
"""

from __future__ import annotations

import dataclasses
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stoker.api.connections import ConnectionLimits, limits_from
from stoker.api.console.ports import ConsoleSettings
from stoker.api.console.ports import settings_from as console_settings
from stoker.api.rest.settings import RestSettings
from stoker.api.rest.settings import settings_from as rest_settings
from stoker.clouds.allowed_hosts import AllowedHosts
from stoker.clouds.credentials import Endpoints, Password, ServiceAccess
from stoker.clouds.web.templates import WebLimits
from stoker.config.database import DatabaseSettings, database_settings
from stoker.config.service_options import SERVICES
from stoker.engine.model.limits import Limits
from stoker.identity.settings import IdentitySettings, User
from stoker.identity.settings import settings_from as identity_settings
from stoker.messaging.settings import BusSettings, bus_settings

if TYPE_CHECKING:
    from oslo_config.cfg import ConfigOpts

_SHARED = {"block-storage": "volumev3"}
"""Types in the catalog, where they differ from the names of services."""
_LISTENERS = ("heat_api", "heat_api_cfn", "heat_api_cloudwatch")
_DEPLOYMENTS = (
    "OS::Heat::SoftwareDeployment",
    "OS::Heat::SoftwareDeploymentGroup",
    "OS::Heat::SoftwareDeployments",
    "OS::Heat::StructuredDeployment",
    "OS::Heat::StructuredDeploymentGroup",
    "OS::Heat::StructuredDeployments",
)


@dataclass(frozen=True, slots=True)
class OperatorSettings:
    """Access of operators to health and metrics."""

    metrics_addresses: tuple[str, ...]
    metrics_token: str | None = dataclasses.field(repr=False)
    # While there is this file, the health check answers that the process is disabled.
    disabled_by: Path | None


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The settings of one process."""

    # Oslo.policy and plug-ins for authentication read options themselves.
    options: ConfigOpts = dataclasses.field(repr=False)
    host: str  # the name of this machine in lists of engines
    database: DatabaseSettings
    identity: IdentitySettings
    endpoints: Endpoints  # without callbacks
    bus: BusSettings
    rest: RestSettings
    console: ConsoleSettings
    limits: Limits
    connections: Mapping[str, ConnectionLimits]  # by the section of the listener
    web_templates: WebLimits
    operators: OperatorSettings
    environment_dir: Path
    plugin_directories: tuple[str, ...]
    property_defaults: Mapping[str, Mapping[str, str]]  # by resource type
    verify_incremental: bool
    yaql_iterations: int
    yaql_memory_bytes: int
    deleted_stack_days: int  # until deleted stacks are purged; -1 keeps them
    history_days: int  # until events and ended operations are purged; -1 keeps them


def server_settings(options: ConfigOpts, cloud_since: float = 0.0) -> ServerSettings:
    """Read the options. ``cloud_since`` is the start of a cloud that lives with this process.

    Raises ValueError for options that cannot be used together.
    """
    identity = identity_settings(options)
    disabled_by = options.healthcheck.disable_by_file_path
    return ServerSettings(
        options=options,
        host=options.host or socket.gethostname(),
        database=database_settings(options),
        identity=identity,
        endpoints=endpoints_of(identity, options),
        bus=bus_settings(options),
        rest=rest_settings(options),
        console=console_settings(options),
        limits=_limits(options, cloud_since),
        connections={section: limits_from(options[section]) for section in _LISTENERS},
        web_templates=WebLimits(
            options.allow_template_url,
            options.template_fetch_timeout,
            options.max_template_size,
            AllowedHosts(tuple(options.template_url_allowed_hosts)),
        ),
        operators=OperatorSettings(
            tuple(options.metrics.allowed_addresses),
            options.metrics.token,
            Path(disabled_by) if disabled_by else None,
        ),
        environment_dir=Path(options.environment_dir),
        plugin_directories=tuple(options.plugin_dirs),
        property_defaults=property_defaults_of(options),
        verify_incremental=options.verify_incremental,
        yaql_iterations=options.yaql.limit_iterators,
        yaql_memory_bytes=options.yaql.memory_quota,
        deleted_stack_days=options.purge_deleted_after,
        history_days=options.purge_history_after,
    )


def endpoints_of(settings: IdentitySettings, options: ConfigOpts) -> Endpoints:
    """Return the access to the cloud, without the callbacks about trusts and before changes."""
    return Endpoints(
        auth_url=settings.api_url,
        region=settings.region,
        interface=settings.interface,
        verify=settings.verify,
        certificate=_certificate(options.clients),
        services=_services(options),
        timeout=options.cloud_request_timeout,
        others=AllowedHosts(tuple(options.other_clouds_allowed_hosts)),
        service_user=password_of(settings.trustee or settings.service_user),
    )


def password_of(user: User) -> Password:
    """Return the credentials of a user of the service for the cloud."""
    return Password(
        user.name,
        user.password,
        user.domain_name or "Default",
        project_name=user.project_name,
        project_domain=user.project_domain_name or "Default",
        user_domain_id=user.domain_id,
    )


def _services(options: ConfigOpts) -> dict[str, ServiceAccess]:
    """Return the access to services that differ from the others."""
    region, shared = options.region_name_for_shared_services, options.shared_services_types
    found = {
        name: _access(options[group], region if _SHARED.get(name, name) in shared else None)
        for group, name in SERVICES.items()
    }
    return {name: access for name, access in found.items() if access != ServiceAccess()}


def _access(section: Any, region: str | None) -> ServiceAccess:
    verify: bool | str | None = section.ca_file or None
    if section.insecure is not None:
        verify = not section.insecure and (verify or True)
    interface = (section.endpoint_type or "").removesuffix("URL") or None
    return ServiceAccess(region, interface, verify, _certificate(section))


def _certificate(section: Any) -> str | tuple[str, str] | None:
    certificate, key = section.cert_file or None, section.key_file
    return (certificate, key) if certificate and key else certificate


def property_defaults_of(options: ConfigOpts) -> dict[str, dict[str, str]]:
    """Return the operator's defaults for properties, by type."""
    polling = {"software_config_transport": options.default_software_config_transport}
    signals = {"signal_transport": options.default_deployment_signal_transport}
    return {
        "OS::Nova::Server": {**polling, "user_data_format": options.default_user_data_format},
        "OS::Heat::DeployedServer": polling,
        **dict.fromkeys(_DEPLOYMENTS, signals),
    }


def _limits(options: ConfigOpts, cloud_since: float) -> Limits:
    return Limits(
        stacks_per_project=options.max_stacks_per_tenant,
        resources_per_stack=options.max_resources_per_stack,
        nested_depth=options.max_nested_stack_depth,
        events_per_stack=options.max_events_per_stack,
        configs_per_project=options.max_software_configs_per_tenant,
        deployments_per_project=options.max_software_deployments_per_tenant,
        software_bytes_per_project=options.max_software_size_per_tenant,
        signal_bytes=options.max_signal_size,
        signals_bytes_per_resource=options.max_signals_size_per_resource,
        values_bytes_per_stack=options.max_values_size_per_stack,
        snapshots_per_stack=options.max_snapshots_per_stack,
        timeout_mins=max(options.stack_action_timeout // 60, 1),
        failure_grace=float(options.error_wait_time),
        landing=2 * options.cloud_request_timeout,
        cloud_since=cloud_since,
    )
