"""Sets up the APIs with AWS's protocols, on their first request."""

from __future__ import annotations

from msgspec import Struct
from starlette.types import ASGIApp

from stoker.api.cfn import app as cfn_app
from stoker.api.cfn.call import Api, CfnSettings
from stoker.api.cloudformation import endpoint
from stoker.api.cloudwatch import app as cloudwatch_app
from stoker.api.ports import Compute, FetchObject
from stoker.api.rest.settings import RestSettings
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
    parts: Parts,
    settings: RestSettings,
    most_stacks: int,
    templates: FetchTemplate,
    objects: FetchObject,
) -> ASGIApp:
    """The CloudFormation API, and the signed addresses for signals.

    ``most_stacks`` is the limit of a project, as clients of CloudFormation read it.
    """
    service, senders, policy, compute = parts.service, parts.senders, parts.policy, parts.compute
    most = settings.max_json_body_size
    cfn_settings = CfnSettings(most, settings.hidden_tags, most_stacks)
    api = Api(service, cfn_settings, templates, objects, compute)
    queries = cfn_app.application(api, senders, policy)
    signals = signals_app.application(
        service, senders, policy, min(most, settings.max_signal_size), compute
    )
    return endpoint(queries, signals)


def cloudwatch(parts: Parts) -> ASGIApp:
    """The CloudWatch API."""
    return cloudwatch_app.application(
        cloudwatch_app.Api(parts.service, parts.senders, parts.policy, parts.compute)
    )
