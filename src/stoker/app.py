"""The wiring: which part gets which, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import ASGIApp

from stoker.api.cfn import app as cfn_app
from stoker.api.cfn.call import Api, CfnSettings
from stoker.api.cloudformation import endpoint
from stoker.api.connections import ConnectionGate, GuardedProtocol, limits_from
from stoker.api.health import health_route
from stoker.api.own_engine import OwnEngine
from stoker.api.ports import Fetching
from stoker.api.rest.app import build
from stoker.api.rest.settings import settings_from
from stoker.api.signals import app as signals_app
from stoker.api.signed import Senders
from stoker.clouds import faults
from stoker.clouds.credentials import Endpoints, Password
from stoker.clouds.gate import CloudGate
from stoker.clouds.web_templates import AllowedHosts, WebLimits, WebTemplates
from stoker.dispatch.in_process import InProcess
from stoker.dispatch.timers import WatchTimer
from stoker.engine.model.interfaces import Limits, Ports
from stoker.engine.service.service import Service, make_service
from stoker.identity.gate import Gate
from stoker.identity.settings import IdentitySettings
from stoker.kernel import freeing
from stoker.kernel.clock import SystemClock
from stoker.kernel.ids import RandomIds
from stoker.kernel.log import Log
from stoker.pauses import LoopPauses
from stoker.purge import Bite, Purge
from stoker.resources.built_in import WITHDRAWN
from stoker.resources.registry import Registry
from stoker.sandbox.sandbox import Sandbox
from stoker.service_environment import registry_in
from stoker.store.opening import OpenStore
from stoker.store.store import SqlStore
from stoker.template.describe.catalogue import Catalogue

log = Log(__name__)


@dataclass(frozen=True, slots=True)
class Served:
    """An application, and what makes the protocol of each connection that it is served on."""

    asgi: ASGIApp
    protocol: Any


class App:
    """The service in one process: APIs, engine, store."""

    def __init__(self, conf: Any, cloud_since: float = 0.0) -> None:
        """``cloud_since`` is when the cloud was started, if it lives with this process."""
        clock = SystemClock()
        self._store = OpenStore(
            conf.database.connection, Path(conf.data_dir), conf.auth_encryption_key
        )
        self._gate = Gate(conf, clock, self._store.trusts)
        trusts = self._gate.trusts
        endpoints = endpoints_of(
            self._gate.settings,
            conf,
            current_trust=trusts.current,
            renew_trust=self._gate.renew_trust,
        )
        self._cloud = CloudGate(endpoints, clock)
        self._templates = WebTemplates(
            WebLimits(
                conf.allow_template_url,
                conf.template_fetch_timeout,
                conf.max_template_size,
                AllowedHosts(tuple(conf.template_url_allowed_hosts)),
            )
        )
        self._sandbox = Sandbox(iterations=conf.yaql.limit_iterators, memory=conf.yaql.memory_quota)
        types = Registry(plugin_directories=conf.plugin_dirs)
        registry = registry_in(Path(conf.environment_dir))
        ports = Ports(
            store=self._store.store,
            types=types,
            workers=self._cloud.workers,
            clouds=self._cloud.access,
            faults=faults,
            deferred=self._gate.trusts,
            signallers=self._gate.stack_users,
            clock=clock,
            ids=RandomIds(),
            limits=limits_of(conf, cloud_since),
            policy=self._gate.policies,
            region=self._gate.settings.region,
            fetch_template=self._templates,
            helpers=self._sandbox,
            service_registry=registry,
        )
        self._engine = OwnEngine(clock, ports.ids, conf.host)
        self._pauses = LoopPauses()
        self._purge = Purge(clock, kept_for(conf, self._store.store))
        self._loading: asyncio.Future[None] | None = None
        self._dispatch = InProcess(ports)
        self.service: Service = make_service(ports, self._dispatch)
        self._watching = WatchTimer(ports.store, clock, self.service.watches.look)
        cloudformation = self._cloudformation(conf)
        self.cfn = self._served(cloudformation, conf.heat_api_cfn)
        # servers that were made when the endpoint lay there know it by this address
        below = Mount("/cfn", app=cloudformation)
        rest = Mount("/", app=self._rest(conf, types, registry))
        self.api = self._served(Starlette(routes=[below, rest]), conf.heat_api)

    def _served(self, interface: ASGIApp, listener: Any) -> Served:
        health = health_route(lambda: {"event_loop": self._pauses.report()})
        application = Starlette(routes=[health, Mount("/", app=interface)])
        return Served(application, partial(GuardedProtocol, ConnectionGate(limits_from(listener))))

    def _rest(self, conf: Any, types: Registry, registry: Mapping[str, Any]) -> ASGIApp:
        return build(
            self.service,
            Catalogue(types, WITHDRAWN, registry),
            self._gate.authenticate,
            self._gate.policies,
            settings_from(conf),
            self._engine,
            Fetching(self._templates, self._cloud.container_files(conf.max_json_body_size)),
            self._cloud.workers.compute,
        )

    def _cloudformation(self, conf: Any) -> ASGIApp:
        senders = Senders(self._gate.verify_signature, self._gate.authenticate)
        most, compute = conf.max_json_body_size, self._cloud.workers.compute
        settings = CfnSettings(most, tuple(conf.hidden_stack_tags))
        api = Api(self.service, settings, self._templates, compute)
        queries = cfn_app.application(api, senders, self._gate.policies)
        signals = signals_app.application(
            self.service, senders, self._gate.policies, min(most, signals_app.MOST_BYTES), compute
        )
        return endpoint(queries, signals)

    async def start(self) -> None:
        """Go on with what an earlier process left unfinished, and load what is slow to load."""
        freeing.start()
        self._pauses.start()
        await self._gate.open()
        await self._dispatch.recover()
        self._purge.start()
        self._watching.start()
        self._loading = asyncio.get_running_loop().run_in_executor(None, self._load)

    def _load(self) -> None:
        try:
            self._gate.load()
            self._cloud.load()
        except Exception:
            log.exception("loading ahead failed; it is tried again with the first request")

    async def close(self) -> None:
        """Stop driving stacks and close everything; what is stored stays as it is."""
        self._pauses.close()
        await self._purge.close()
        await self._watching.close()
        await self._dispatch.close()
        if self._loading is not None:
            await self._loading
        self._cloud.close()
        await self._gate.close()
        self._store.close()
        self._sandbox.close()


def kept_for(conf: Any, store: SqlStore) -> list[tuple[Bite, int]]:
    """The days for which the store keeps what nobody needs, by what deletes it."""
    return [
        (store.purge_stacks, conf.purge_deleted_after),
        (store.purge_history, conf.purge_history_after),
    ]


def endpoints_of(settings: IdentitySettings, conf: Any, **trusts: Any) -> Endpoints:
    """How the cloud is reached; ``trusts`` say what becomes of trusts."""
    user = settings.trustee or settings.service_user
    return Endpoints(
        auth_url=settings.api_url,
        region=settings.region,
        interface=settings.interface,
        verify=settings.verify,
        timeout=conf.cloud_request_timeout,
        **trusts,
        service_user=Password(
            user.name,
            user.password,
            user.domain_name or "Default",
            project_name=user.project_name,
            project_domain=user.project_domain_name or "Default",
            user_domain_id=user.domain_id,
        ),
    )


def limits_of(conf: Any, cloud_since: float = 0.0) -> Limits:
    """The engine's limits."""
    return Limits(
        stacks_per_project=conf.max_stacks_per_tenant,
        resources_per_stack=conf.max_resources_per_stack,
        nested_depth=conf.max_nested_stack_depth,
        events_per_stack=conf.max_events_per_stack,
        configs_per_project=conf.max_software_configs_per_tenant,
        deployments_per_project=conf.max_software_deployments_per_tenant,
        snapshots_per_stack=conf.max_snapshots_per_stack,
        timeout_mins=max(conf.stack_action_timeout // 60, 1),
        failure_grace=float(conf.error_wait_time),
        landing=2 * conf.cloud_request_timeout,
        cloud_since=cloud_since,
    )
