"""The wiring of the interfaces that speak AWS's protocols, loaded when one is first asked."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from starlette.types import ASGIApp

from stoker.api.cfn import app as cfn_app
from stoker.api.cfn.call import Api, CfnSettings
from stoker.api.cloudformation import endpoint
from stoker.api.cloudwatch import app as cloudwatch_app
from stoker.api.ports import Compute, FetchObject
from stoker.api.signals import app as signals_app
from stoker.api.signed import Senders
from stoker.engine.model.clouds import FetchTemplate
from stoker.engine.model.interfaces import Policy
from stoker.engine.service.service import Service


class Parts(Struct, frozen=True):
    """Services for both interfaces."""

    service: Service
    senders: Senders
    policy: Policy
    compute: Compute


def cloudformation(
    parts: Parts, conf: Any, templates: FetchTemplate, objects: FetchObject
) -> ASGIApp:
    """The CloudFormation API, and the signed addresses for signals."""
    service, senders, policy, compute = parts.service, parts.senders, parts.policy, parts.compute
    most = conf.max_json_body_size
    settings = CfnSettings(most, tuple(conf.hidden_stack_tags), conf.max_stacks_per_tenant)
    api = Api(service, settings, templates, objects, compute)
    queries = cfn_app.application(api, senders, policy)
    signals = signals_app.application(
        service, senders, policy, min(most, conf.max_signal_size), compute
    )
    return endpoint(queries, signals)


def cloudwatch(parts: Parts) -> ASGIApp:
    """The CloudWatch API."""
    return cloudwatch_app.application(
        cloudwatch_app.Api(parts.service, parts.senders, parts.policy, parts.compute)
    )
