"""Builds a process of the service from its parts: which part gets which, and nothing else.

Takes options and a role, and yields an :class:`App` whose interfaces can be served. Every part
that holds threads, connections or tasks is put on one exit stack where it is made, so that parts
are closed in the reverse order: first those that start work, at last the store.

Called by ``stoker serve`` and by engine processes. Tested by tests/project/test_options.py,
tests/operators and tests/engines.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Router
from starlette.types import ASGIApp

from stoker.api.connections import ConnectionGate, GuardedProtocol
from stoker.api.console.app import Console
from stoker.api.console.ports import ConsoleSettings, Parts
from stoker.api.lazy_application import LazyApplication
from stoker.api.operators import Readers, operator_routes
from stoker.api.ports import Authenticate, Fetching
from stoker.api.rest.app import build
from stoker.api.signed import Senders
from stoker.clouds import faults
from stoker.clouds.cloud_clients import CloudClients
from stoker.clouds.web.templates import WebTemplates
from stoker.concurrency.background import Background
from stoker.config.database import database_settings
from stoker.dispatch.lease import LEASE_S, HeartbeatLease
from stoker.dispatch.timers import WatchTimer
from stoker.engine.model.interfaces import Lease, PermanentLease, Ports
from stoker.engine.model.outgoing import Outbox
from stoker.engine.model.records import Channel
from stoker.engine.planning.verification import LoggedVerification
from stoker.engine.service.service import Service, make_service
from stoker.identity.gate import IdentityServices
from stoker.kernel import freeing
from stoker.kernel.ids import RandomIds
from stoker.kernel.lazy import LazyModule
from stoker.kernel.logs.log import Log
from stoker.kernel.values import replace
from stoker.messaging.bus import Bus
from stoker.messaging.queues import MOST_WAITING, Queues
from stoker.messaging.sender import Sender
from stoker.messaging.settings import BusSettings
from stoker.observability.counts import CountedRequests, Counts
from stoker.observability.event_loop_monitor import EventLoopMonitor
from stoker.observability.report import Report
from stoker.resources.base.builtin_types import is_built_in
from stoker.resources.base.heat_catalog import WithDeclared
from stoker.resources.base.registry import Registry
from stoker.sandbox.sandbox import Sandbox
from stoker.server.global_environment import environment_in
from stoker.server.key_rotation import KeyRotation
from stoker.server.leader_tasks import SingletonTask
from stoker.server.purge import RetentionJob
from stoker.server.roles import ProcessRole
from stoker.server.scheduling import ForeignHandler, StackScheduler, StandaloneScheduler
from stoker.server.settings import ServerSettings, password_of, server_settings
from stoker.server.warm_up import authenticate, rehearsal, warm_up
from stoker.store.opening import OpenStore
from stoker.template.definition import TypeRegistry
from stoker.template.describe.catalogue import Catalogue
from stoker.template.environment.environment import Environment

if TYPE_CHECKING:
    from oslo_config.cfg import ConfigOpts

    from stoker.server import aws_apis as aws
    from stoker.server import cluster_member
else:
    aws = LazyModule("stoker.server.aws_apis")
    # It needs libraries that a single process does not.
    cluster_member = LazyModule("stoker.server.cluster_member")

log = Log(__name__)

FORGET_EVERY = 300.0
"""Seconds after which an unused evaluation is dropped."""


class Served(Struct, frozen=True):
    """An application, and the factory of the protocol for its connections."""

    asgi: ASGIApp
    protocol: Any


@asynccontextmanager
async def open_app(
    options: ConfigOpts, cloud_since: float = 0.0, role: ProcessRole = ProcessRole.WHOLE
) -> AsyncIterator[App]:
    """Build the service for the block; it does nothing before :meth:`App.start`.

    ``cloud_since`` is the start of the cloud, if it lives with this process. At the end of the
    block, driving stacks stops and everything is closed; stored state is kept.
    """
    settings = server_settings(options, cloud_since)
    async with AsyncExitStack() as closing:
        yield App(settings, role, closing)


class App:
    """The service in one process: APIs, engine, store."""

    def __init__(
        self, settings: ServerSettings, role: ProcessRole, closing: AsyncExitStack
    ) -> None:
        self.name = RandomIds().uuid()
        self._settings, self._role = settings, role
        self._sandbox = Sandbox(
            iterations=settings.yaql_iterations, memory=settings.yaql_memory_bytes
        )
        closing.callback(self._sandbox.close)
        self._store = _open_store(
            settings, None if role is ProcessRole.WHOLE else self.name, closing
        )
        self.overtaken = self._store.lock.lost
        self._counts = Counts(self._store.clock, is_built_in)
        self._lease = _lease_of(role)
        self._gate = self._open_identity(closing)
        self._cloud = self._open_cloud(closing)
        self._templates = WebTemplates(
            settings.web_templates,
            is_own=self._cloud.temporary_urls(password_of(settings.identity.service_user)),
        )
        self._loading: asyncio.Future[None] | None = None
        closing.push_async_callback(self._end_loading)
        types = Registry(
            plugin_directories=settings.plugin_directories,
            property_defaults=settings.property_defaults,
        )
        declared = self._types = WithDeclared(types)
        environment = environment_in(settings.environment_dir)
        ports = self._ports(declared, environment)
        ports.store.observe(self._counts)
        self._scheduler = self._make_scheduler(ports)
        closing.push_async_callback(self._scheduler.close)
        self.ports = ports = self._scheduler.ports
        self.service: Service = make_service(ports, self._scheduler.dispatcher)
        closing.push_async_callback(self.service.cloudformation.detections.close)
        self._make_tasks(ports, closing)
        self._report = self._make_report()
        self._catalogue = Catalogue(types, declared, environment.resource_registry)
        self._serve()

    def _open_identity(self, closing: AsyncExitStack) -> IdentityServices:
        store = self._store
        identity = IdentityServices(
            self._settings.identity,
            self._settings.options,
            store.clock,
            store.trusts,
            self._counts.called,
            alone=store.members is None,
        )
        closing.push_async_callback(identity.close)
        return identity

    def _open_cloud(self, closing: AsyncExitStack) -> CloudClients:
        endpoints = replace(
            self._settings.endpoints,
            current_trust=self._gate.trusts.current,
            renew_trust=self._gate.renew_trust,
            may_change=self._lease.require,
        )
        cloud = CloudClients(endpoints, self._store.clock, self._counts.called)
        closing.callback(cloud.close)
        return cloud

    def _ports(self, types: TypeRegistry, environment: Environment) -> Ports:
        return Ports(
            store=self._store.store,
            types=types,
            workers=self._cloud.workers,
            clouds=self._cloud.access,
            faults=faults,
            deferred=self._gate.deferred,
            signallers=self._gate.stack_users,
            clock=self._store.clock,
            ids=RandomIds(),
            limits=self._settings.limits,
            policy=self._gate.policies,
            region=self._settings.identity.region,
            fetch_template=self._templates,
            helpers=self._sandbox,
            service_environment=environment,
            verification=LoggedVerification() if self._settings.verify_incremental else None,
            lease=self._lease,
        )

    def _make_scheduler(self, ports: Ports) -> StackScheduler:
        host, members = self._settings.host, self._store.members
        if members is None:
            return StandaloneScheduler(ports, host)
        lease = self._lease if isinstance(self._lease, HeartbeatLease) else None
        return cluster_member.ClusterScheduler(members, ports, self.name, host, lease)

    def _make_tasks(self, ports: Ports, closing: AsyncExitStack) -> None:
        """Make the background tasks, which run from :meth:`start` to the end of the process."""
        settings, store = self._settings, self._store.store
        self._watching = WatchTimer(
            ports.store, self._store.clock, self.service.monitoring.watches.evaluate_due
        )
        self._senders = senders_of(settings.bus, ports, store.outbox)
        self._rotation = KeyRotation(self._store.reencryption)
        closing.push_async_callback(self._rotation.close)
        rules = [
            (store.purge_stacks, settings.deleted_stack_days),
            (store.purge_history, settings.history_days),
            (self._store.spent_tickets.purge, 0),
        ]
        self._purge = RetentionJob(self._store.clock, rules)
        closing.push_async_callback(self._purge.close)
        self._forgetting = Background(self._forget)
        closing.push_async_callback(self._forgetting.close)
        self._pauses = EventLoopMonitor()
        closing.callback(self._pauses.close)

    def _make_report(self) -> Report:
        store = self._store
        return Report(
            self._counts,
            store.clock,
            store.store,
            commits=lambda: store.store.commits,
            loads=self._cloud.workers.loads,
            pauses=self._pauses.report,
            reencrypting=lambda: store.reencryption.is_under_way,
            work=self._scheduler.work,
        )

    def _serve(self) -> None:
        """Make the interfaces."""
        self._lazy = cloudformation, cloudwatch = self._for_aws()
        self.operators = self._served(PlainTextResponse("", 404), "heat_api", name="engine")
        """For a process that answers only operators."""
        self.cfn = self._served(cloudformation, "heat_api_cfn")
        self.cloudwatch = self._served(cloudwatch, "heat_api_cloudwatch")
        rest = self.rest_for(self._gate.authenticate)
        api = _with_console(self._settings.console, self._store, self._gate, rest)
        # Servers of earlier releases know the address of CloudFormation below that of REST.
        self.api = self._served(api, "heat_api", Mount("/cfn", app=cloudformation))

    def _served(self, interface: ASGIApp, section: str, *others: Mount, name: str = "") -> Served:
        """``section`` has the limits; ``name`` is its name in metrics, by default the section."""
        gate = ConnectionGate(self._settings.connections[section])
        self._report.connections[name or section] = lambda: gate.count
        operators = self._settings.operators
        routes = operator_routes(
            Readers(operators.metrics_addresses, operators.metrics_token),
            self._report.details,
            self._report.metrics,
            operators.disabled_by.exists if operators.disabled_by else lambda: False,
        )
        # A route for all paths would not match paths with a line break.
        application = Router([*routes, *others], redirect_slashes=False, default=interface)
        counted = CountedRequests(application, self._counts, name or section)
        return Served(counted, partial(GuardedProtocol, gate))

    def rest_for(self, authenticate: Authenticate, service: Service | None = None) -> ASGIApp:
        """Return the REST API with this authentication, by default on this service."""
        settings, files = self._settings.rest, self._cloud.container_files
        return build(
            service or self.service,
            self._catalogue,
            authenticate,
            self._gate.policies,
            settings,
            self._scheduler.engines,
            Fetching(self._templates, files(settings.max_json_body_size)),
            self._cloud.workers.answer,
        )

    def _for_aws(self) -> tuple[LazyApplication, LazyApplication]:
        """The CloudFormation API with the signals, and the CloudWatch API."""
        settings = self._settings
        policies, compute = self._gate.policies, self._cloud.workers.answer
        senders = Senders(self._gate.verify_signature, self._gate.authenticate)
        objects = self._cloud.container_files(settings.web_templates.size).text
        most_stacks = settings.limits.stacks_per_project

        def parts() -> aws.Parts:
            return aws.Parts(self.service, senders, policies, compute)

        return (
            LazyApplication(
                lambda: aws.cloudformation(
                    parts(), settings.rest, most_stacks, self._templates, objects
                )
            ),
            LazyApplication(lambda: aws.cloudwatch(parts())),
        )

    async def start(self) -> None:
        """Resume the work that an earlier process left unfinished, and load slow modules."""
        freeing.start()
        self._pauses.start()
        self._forgetting.start()
        self._gate.open()
        await self._start_driving()
        self._loading = asyncio.ensure_future(self._load_ahead())

    async def _start_driving(self) -> None:
        trusts, outbox = self._gate.trusts, self._store.store.outbox
        handlers: dict[str, ForeignHandler] = {
            "messages": lambda ids: outbox.wake_listeners(),
            "trust": lambda ids: trusts.handle_renewal_request(ids[0]),
            "watches": lambda ids: self._watching.wake(),
        }
        if self._role is not ProcessRole.ENGINE:
            handlers["events"] = self.service.event_streams.notify
        tasks: list[SingletonTask] = [self._watching, self._gate.left_trusts, *self._senders]
        await self._scheduler.start(tasks, handlers, self._cloud.workers.share)
        if self._role is not ProcessRole.API:
            self._purge.start()
            self._rotation.start()

    async def _forget(self) -> None:
        while True:
            await asyncio.sleep(FORGET_EVERY)
            self._scheduler.ports.forget_unused()
            await asyncio.get_running_loop().run_in_executor(None, freeing.give_back)

    async def _load_ahead(self) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self._load)
        if self._role is not ProcessRole.ENGINE:
            service = rehearsal(self.ports, self._store, self._scheduler.dispatcher)
            await warm_up(self.rest_for(authenticate, service))

    def _load(self) -> None:
        try:
            self._gate.load()
            self._types.names()  # reads the entry points of all installed packages
            self._cloud.load()
            for interface in self._lazy:  # last, since the first create needs the cloud
                _ = interface.application
        except Exception:
            log.exception("loading ahead failed; it is tried again with the first request")

    async def _end_loading(self) -> None:
        if self._loading is not None:
            await self._loading

    def renew_keys(self, options: ConfigOpts) -> None:
        """Encrypt with the keys as options and the key file name them now.

        Raises ValueError where the key of the database is not among them; nothing changes then.
        """
        database = database_settings(options)
        self._store.renew_keys(database.key, database.earlier_keys)
        self._rotation.ask()


def _open_store(settings: ServerSettings, member: str | None, closing: AsyncExitStack) -> OpenStore:
    """``member`` is the name of a process that shares the database with others."""
    database = settings.database
    store = OpenStore(
        database.url,
        database.data_dir,
        database.key,
        database.earlier_keys,
        notifies=settings.bus.notifies,
        member=member,
        synchronous=database.sqlite_synchronous,
    )
    closing.callback(store.close)
    store.lock.acquire()
    return store


def _with_console(
    settings: ConsoleSettings, store: OpenStore, gate: IdentityServices, rest: ASGIApp
) -> ASGIApp:
    if not settings.enabled:
        return rest
    spend = store.spent_tickets.spend
    return Console(Parts(gate.sign_ins, store.seals, spend, store.clock, settings), rest)


def _lease_of(role: ProcessRole) -> Lease:
    return HeartbeatLease(LEASE_S) if role is ProcessRole.ENGINE else PermanentLease()


def senders_of(bus: BusSettings, ports: Ports, outbox: Outbox) -> list[Sender]:
    """Return the senders of messages in the outbox."""
    senders = [Sender(outbox, Channel.ZAQAR, Queues(ports), MOST_WAITING)]
    if bus.notifies:
        senders.append(Sender(outbox, Channel.BUS, Bus(bus), bus.most_waiting))
    return senders
