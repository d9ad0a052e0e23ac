"""The wiring: which part gets which, and nothing else."""

from __future__ import annotations

import asyncio
import importlib
import socket
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Router
from starlette.types import ASGIApp

from stoker.api.connections import ConnectionGate, GuardedProtocol, limits_from
from stoker.api.lazy_application import LazyApplication
from stoker.api.operators import Readers, operator_routes
from stoker.api.ports import Fetching
from stoker.api.rest.app import build
from stoker.api.rest.settings import settings_from
from stoker.api.signed import Senders
from stoker.clouds import faults
from stoker.clouds.allowed_hosts import AllowedHosts
from stoker.clouds.cloud_clients import CloudClients
from stoker.clouds.credentials import Endpoints, Password, ServiceAccess
from stoker.clouds.web_templates import WebLimits, WebTemplates
from stoker.concurrency.background import Background
from stoker.config.options import SERVICES
from stoker.dispatch.leader_tasks import SingletonTask
from stoker.dispatch.timers import WatchTimer
from stoker.engine.model.clouds import Types
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.limits import Limits
from stoker.engine.model.outgoing import Outbox
from stoker.engine.model.records import Channel
from stoker.engine.service.service import Service, make_service
from stoker.identity.gate import IdentityServices
from stoker.identity.settings import IdentitySettings, User
from stoker.kernel import freeing
from stoker.kernel.clock import Clock
from stoker.kernel.ids import RandomIds
from stoker.kernel.lazy import LazyModule
from stoker.kernel.log import Log
from stoker.messaging.bus import Bus
from stoker.messaging.queues import MOST_WAITING, Queues
from stoker.messaging.sender import Sender
from stoker.messaging.settings import BusSettings, bus_settings
from stoker.observability.counts import CountedRequests, Counts
from stoker.observability.event_loop_monitor import EventLoopMonitor
from stoker.observability.report import Report
from stoker.resources.base.builtin_types import built_in, is_built_in
from stoker.resources.base.heat_catalog import WithDeclared
from stoker.resources.base.registry import Registry
from stoker.sandbox.sandbox import Sandbox
from stoker.server.global_environment import environment_in
from stoker.server.key_rotation import KeyRotation
from stoker.server.purge import PurgeStep, RetentionJob
from stoker.server.roles import ProcessRole
from stoker.server.scheduling import NotificationHandler, StackScheduler, StandaloneScheduler
from stoker.store.opening import OpenStore
from stoker.store.store import SqlStore
from stoker.template.describe.catalogue import Catalogue
from stoker.template.environment.environment import Environment

if TYPE_CHECKING:
    from stoker.server import aws_apis as aws
else:
    aws = LazyModule("stoker.server.aws_apis")

log = Log(__name__)

FORGET_EVERY = 300.0
"""Seconds after which an unused evaluation is dropped."""
_SHARED = {"block-storage": "volumev3"}
"""Types in the catalog, where they differ from the names of services."""
_DEPLOYMENTS = (
    "OS::Heat::SoftwareDeployment",
    "OS::Heat::SoftwareDeploymentGroup",
    "OS::Heat::SoftwareDeployments",
    "OS::Heat::StructuredDeployment",
    "OS::Heat::StructuredDeploymentGroup",
    "OS::Heat::StructuredDeployments",
)


class Served(Struct, frozen=True):
    """An application, and the factory of the protocol for its connections."""

    asgi: ASGIApp
    protocol: Any


class App:
    """The service in one process: APIs, engine, store."""

    def __init__(
        self, conf: Any, cloud_since: float = 0.0, part: ProcessRole = ProcessRole.WHOLE
    ) -> None:
        """``cloud_since`` is the start of the cloud, if it lives with this process.

        ``part`` is the role of this process.
        """
        self.name = RandomIds().uuid()
        self._part = part
        bus = bus_settings(conf)
        self._store = self._open_store(conf, bus)
        try:
            self._build(conf, cloud_since, bus)
        except BaseException:
            self._store.close()
            raise

    def _build(self, conf: Any, cloud_since: float, bus: BusSettings) -> None:
        """Put everything together on the store."""
        self._store.lock.acquire()
        clock = self._store.clock
        self._counts = Counts(clock, is_built_in)
        self.overtaken = self._store.lock.lost
        called, alone = self._counts.called, self._store.members is None
        self._gate = IdentityServices(conf, clock, self._store.trusts, called, alone=alone)
        trusts = self._gate.trusts
        endpoints = endpoints_of(
            self._gate.settings,
            conf,
            current_trust=trusts.current,
            renew_trust=self._gate.renew_trust,
            may_change=lambda: self._scheduler.ports.lease.require(),  # it is made below
        )
        self._cloud = CloudClients(endpoints, clock, called)
        self._templates = WebTemplates(
            web_limits_of(conf),
            is_own=self._cloud.temporary_urls(_password_of(self._gate.settings.service_user)),
        )
        self._sandbox = Sandbox(iterations=conf.yaql.limit_iterators, memory=conf.yaql.memory_quota)
        types = Registry(
            plugin_directories=conf.plugin_dirs, property_defaults=property_defaults_of(conf)
        )
        declared = WithDeclared(types)
        environment = environment_in(Path(conf.environment_dir))
        ports = self._ports(clock, declared, limits_of(conf, cloud_since), environment)
        self._pauses = EventLoopMonitor()
        self._rotation = KeyRotation(self._store.reencryption)
        self._report = Report(
            self._counts,
            clock,
            self._store.state,
            commits=lambda: self._store.store.commits,
            loads=self._cloud.workers.loads,
            pauses=self._pauses.report,
            reencrypting=lambda: self._store.reencryption.is_under_way,
            work=lambda: self._scheduler.work(),  # it is made below
        )
        ports.store.observe(self._counts)
        self._purge = RetentionJob(clock, kept_for(conf, self._store.store))
        self._forgetting = Background(self._forget)
        self._loading: asyncio.Future[None] | None = None
        self._scheduler: StackScheduler = self._drives(ports, conf.host or socket.gethostname())
        ports = self._scheduler.ports
        self.service: Service = make_service(ports, self._scheduler.dispatcher)
        self._watching = WatchTimer(ports.store, clock, self.service.monitoring.watches.look)
        self._senders = senders_of(bus, ports, self._store.store.outbox)
        self.operators = self._served(PlainTextResponse("", 404), conf, "heat_api", name="engine")
        """For a process that answers only operators."""
        self._lazy = cloudformation, cloudwatch = self._for_aws(conf)
        self.cfn = self._served(cloudformation, conf, "heat_api_cfn")
        self.cloudwatch = self._served(cloudwatch, conf, "heat_api_cloudwatch")
        # servers that were made when the endpoint lay there know it by this address
        catalogue = Catalogue(types, declared, environment.resource_registry)
        below, rest = Mount("/cfn", app=cloudformation), self._rest(conf, catalogue)
        self.api = self._served(rest, conf, "heat_api", below)

    def _open_store(self, conf: Any, bus: BusSettings) -> OpenStore:
        return OpenStore(
            conf.database.connection,
            Path(conf.data_dir),
            conf.auth_encryption_key,
            conf.previous_auth_encryption_key,
            notifies=bus.notifies,
            member=None if self._part is ProcessRole.WHOLE else self.name,
            synchronous=conf.database.sqlite_synchronous,
        )

    def _drives(self, ports: Ports, host: str) -> StackScheduler:
        if self._store.members is None:
            return StandaloneScheduler(ports, host)
        # It needs libraries that a single process does not.
        member: Any = importlib.import_module("stoker.server.cluster_member").ClusterScheduler
        drives = self._part is ProcessRole.ENGINE
        made: StackScheduler = member(self._store.members, ports, self.name, host, drives=drives)
        return made

    def _ports(self, clock: Clock, types: Types, limits: Limits, environment: Environment) -> Ports:
        return Ports(
            store=self._store.store,
            types=types,
            workers=self._cloud.workers,
            clouds=self._cloud.access,
            faults=faults,
            deferred=self._gate.deferred,
            signallers=self._gate.stack_users,
            clock=clock,
            ids=RandomIds(),
            limits=limits,
            policy=self._gate.policies,
            region=self._gate.settings.region,
            fetch_template=self._templates,
            helpers=self._sandbox,
            service_environment=environment,
        )

    def _served(
        self, interface: ASGIApp, conf: Any, section: str, *others: Mount, name: str = ""
    ) -> Served:
        """``section`` has the limits; ``name`` is its name in metrics, by default the section."""
        name = name or section
        gate = ConnectionGate(limits_from(conf[section]))
        self._report.connections[name] = lambda: gate.count
        disabled_by = conf.healthcheck.disable_by_file_path
        routes = operator_routes(
            Readers(conf.metrics.allowed_addresses, conf.metrics.token),
            self._report.details,
            self._report.metrics,
            Path(disabled_by).exists if disabled_by else lambda: False,
        )
        # a route for all paths would be none for those with a line break inside
        application = Router([*routes, *others], redirect_slashes=False, default=interface)
        counted = CountedRequests(application, self._counts, name)
        return Served(counted, partial(GuardedProtocol, gate))

    def _rest(self, conf: Any, catalogue: Catalogue) -> ASGIApp:
        return build(
            self.service,
            catalogue,
            self._gate.authenticate,
            self._gate.policies,
            settings_from(conf),
            self._scheduler.engines,
            Fetching(self._templates, self._cloud.container_files(conf.max_json_body_size)),
            self._cloud.workers.compute,
        )

    def _for_aws(self, conf: Any) -> tuple[LazyApplication, LazyApplication]:
        """The CloudFormation API with the signals, and the CloudWatch API."""
        policies, compute = self._gate.policies, self._cloud.workers.compute
        senders = Senders(self._gate.verify_signature, self._gate.authenticate)
        objects = self._cloud.container_files(conf.max_template_size).text

        def parts() -> aws.Parts:
            return aws.Parts(self.service, senders, policies, compute)

        return (
            LazyApplication(lambda: aws.cloudformation(parts(), conf, self._templates, objects)),
            LazyApplication(lambda: aws.cloudwatch(parts())),
        )

    async def start(self) -> None:
        """Resume the work that an earlier process left unfinished, and load slow modules."""
        freeing.start()
        self._pauses.start()
        self._forgetting.start()
        self._gate.open()
        await self._start_driving()
        self._loading = asyncio.get_running_loop().run_in_executor(None, self._load)

    async def _start_driving(self) -> None:
        streams, outbox = self.service.event_streams, self._store.store.outbox
        # what this process has written itself it knows already
        heard_by: dict[str, NotificationHandler] = {
            "messages": lambda about, own: None if own else outbox.hear(),
            "trust": lambda about, own: None if own else self._gate.trusts.hear(about[0]),
            "watches": lambda about, own: None if own else self._watching.hear(),
        }
        if self._part is not ProcessRole.ENGINE:
            heard_by["events"] = lambda about, own: None if own else streams.hear(about)
        duties: list[SingletonTask] = [self._watching, self._gate.left_trusts, *self._senders]
        await self._scheduler.start(duties, heard_by, self._cloud.workers.share)
        if self._part is not ProcessRole.API:
            self._purge.start()
            self._rotation.start()

    async def _forget(self) -> None:
        while True:
            await asyncio.sleep(FORGET_EVERY)
            self._scheduler.ports.kept.forget_unused()
            await asyncio.get_running_loop().run_in_executor(None, freeing.give_back)

    def _load(self) -> None:
        try:
            self._gate.load()
            built_in()
            for interface in self._lazy:
                _ = interface.application
            self._cloud.load()
        except Exception:
            log.exception("loading ahead failed; it is tried again with the first request")

    def renew_keys(self, conf: Any) -> None:
        """Encrypt with the keys as options and the key file name them now.

        Raises ValueError where the key of the database is not among them; nothing changes then.
        """
        self._store.renew_keys(conf.auth_encryption_key, conf.previous_auth_encryption_key)
        self._rotation.ask()

    async def close(self) -> None:
        """Stop driving stacks and close everything; stored state is kept."""
        self._pauses.close()
        await self._forgetting.close()
        await self._purge.close()
        await self._rotation.close()
        await self.service.cloudformation.detections.close()
        await self._scheduler.close()
        if self._loading is not None:
            await self._loading
        self._cloud.close()
        await self._gate.close()
        self._store.close()
        self._sandbox.close()


def web_limits_of(conf: Any) -> WebLimits:
    """Return the settings for templates by URL."""
    return WebLimits(
        conf.allow_template_url,
        conf.template_fetch_timeout,
        conf.max_template_size,
        AllowedHosts(tuple(conf.template_url_allowed_hosts)),
    )


def kept_for(conf: Any, store: SqlStore) -> list[tuple[PurgeStep, int]]:
    """Return the functions that delete old rows, with their retention in days."""
    return [
        (store.purge_stacks, conf.purge_deleted_after),
        (store.purge_history, conf.purge_history_after),
    ]


def senders_of(bus: BusSettings, ports: Ports, outbox: Outbox) -> list[Sender]:
    """Return the senders of messages in the outbox."""
    senders = [Sender(outbox, Channel.ZAQAR, Queues(ports), MOST_WAITING)]
    if bus.notifies:
        senders.append(Sender(outbox, Channel.BUS, Bus(bus), bus.most_waiting))
    return senders


def endpoints_of(settings: IdentitySettings, conf: Any, **asked: Any) -> Endpoints:
    """Return the access to the cloud; ``asked`` are callbacks about trusts and before changes."""
    return Endpoints(
        auth_url=settings.api_url,
        region=settings.region,
        interface=settings.interface,
        verify=settings.verify,
        certificate=_certificate(conf.clients),
        services=services_of(conf),
        timeout=conf.cloud_request_timeout,
        others=AllowedHosts(tuple(conf.other_clouds_allowed_hosts)),
        **asked,
        service_user=_password_of(settings.trustee or settings.service_user),
    )


def _password_of(user: User) -> Password:
    return Password(
        user.name,
        user.password,
        user.domain_name or "Default",
        project_name=user.project_name,
        project_domain=user.project_domain_name or "Default",
        user_domain_id=user.domain_id,
    )


def services_of(conf: Any) -> dict[str, ServiceAccess]:
    """Return the access to services that differ from the others."""
    region, shared = conf.region_name_for_shared_services, conf.shared_services_types
    found = {
        name: _access(conf[group], region if _SHARED.get(name, name) in shared else None)
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


def property_defaults_of(conf: Any) -> dict[str, dict[str, str]]:
    """Return the operator's defaults for properties, by type."""
    polling = {"software_config_transport": conf.default_software_config_transport}
    signals = {"signal_transport": conf.default_deployment_signal_transport}
    return {
        "OS::Nova::Server": {**polling, "user_data_format": conf.default_user_data_format},
        "OS::Heat::DeployedServer": polling,
        **dict.fromkeys(_DEPLOYMENTS, signals),
    }


def limits_of(conf: Any, cloud_since: float = 0.0) -> Limits:
    """The engine's limits."""
    return Limits(
        stacks_per_project=conf.max_stacks_per_tenant,
        resources_per_stack=conf.max_resources_per_stack,
        nested_depth=conf.max_nested_stack_depth,
        events_per_stack=conf.max_events_per_stack,
        configs_per_project=conf.max_software_configs_per_tenant,
        deployments_per_project=conf.max_software_deployments_per_tenant,
        software_bytes_per_project=conf.max_software_size_per_tenant,
        signal_bytes=conf.max_signal_size,
        signals_bytes_per_resource=conf.max_signals_size_per_resource,
        values_bytes_per_stack=conf.max_values_size_per_stack,
        snapshots_per_stack=conf.max_snapshots_per_stack,
        timeout_mins=max(conf.stack_action_timeout // 60, 1),
        failure_grace=float(conf.error_wait_time),
        landing=2 * conf.cloud_request_timeout,
        cloud_since=cloud_since,
    )
