"""Templates: those of stacks, and those of requests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stoker.api.cfn.call import Call
from stoker.engine.model.requests import StackRequest
from stoker.kernel.errors import MISSING_PARAMETER, Invalid

_PARAMETER_KEYS = {"Default": "DefaultValue", "Description": "Description", "NoEcho": "NoEcho"}


async def given_template(call: Call) -> tuple[str, str | None]:
    """The template of a request, and the address that it came from, if it was named by one.

    Raises a refusal (400) where there is none.
    """
    body = call.parameters.get("TemplateBody")
    # AWS and Heat spell it differently
    url = call.parameters.get("TemplateURL") or call.parameters.get("TemplateUrl")
    if not body and url:
        return await call.api.fetch_template(url), url
    if body is None:
        message = "The request needs TemplateBody or TemplateURL."
        raise Invalid(message, MISSING_PARAMETER)
    return body, None


async def show(call: Call) -> dict[str, Any]:
    """The template of a stack, as JSON text."""
    found = await call.service.views.template(call.caller, await call.stack())
    text = await call.api.compute(lambda: json.dumps(found, ensure_ascii=False, default=str))
    return {"TemplateBody": text}


async def validate(call: Call) -> dict[str, Any]:
    """The parameters that a template takes; what is wrong with it is a refusal (400)."""
    template, template_file = await given_template(call)
    request = StackRequest(template=template, template_file=template_file)
    described, _ = await call.service.descriptions.validate(call.caller, request)
    parameters = [
        {"ParameterKey": name, **_shown(body)} for name, body in described["Parameters"].items()
    ]
    return {
        "Description": described["Description"],
        "Parameters": parameters,
        "Environment": described.get("Environment", {}),
    }


async def estimate_cost(call: Call) -> dict[str, Any]:
    """A private cloud has no price list: the page that clients know says so."""
    return {"Url": "http://en.wikipedia.org/wiki/Gratis"}


def _shown(body: Mapping[str, Any]) -> dict[str, Any]:
    return {key: body[name] for name, key in _PARAMETER_KEYS.items() if name in body}
