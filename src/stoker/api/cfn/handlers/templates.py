"""Templates: those of stacks, and those of requests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stoker.api.cfn.call import Call
from stoker.api.cfn.imports import IDENTIFIER
from stoker.api.cfn.stored_documents import stored_document
from stoker.engine.model.requests import StackRequest
from stoker.engine.model.views import TemplateSummary
from stoker.kernel.errors import MISSING_PARAMETER, NotFoundError, ValidationError
from stoker.kernel.values import replace

_PARAMETER_KEYS = {"Default": "DefaultValue", "Description": "Description", "NoEcho": "NoEcho"}
_NEEDS_PERMISSION = "AWS::IAM::"  # prefix of types that need a capability of the client


async def requested_template(call: Call) -> tuple[str, str | None]:
    """Return the template of a request, and its URL if it was given by one.

    Rejects a request without a template (400).
    """
    text, url = await requested_text(call, "Template")
    if text is None:
        message = "The request needs TemplateBody or TemplateURL."
        raise ValidationError(message, MISSING_PARAMETER)
    return text, url


async def requested_text(call: Call, kind: str) -> tuple[str | None, str | None]:
    """Return a document in a request, or at its URL; and the URL."""
    body = call.parameters.get(f"{kind}Body")
    # AWS and Heat spell the key differently.
    url = call.parameters.get(f"{kind}URL") or call.parameters.get(f"{kind}Url")
    if not body and url:
        return await template_at(call, url), url
    return body, None


async def template_at(call: Call, url: str) -> str:
    """Fetch a URL. One of S3 is first searched in the object store of this cloud."""
    stored = stored_document(url)
    if stored is None:
        return await call.api.fetch_template(url)
    try:
        return await call.api.fetch_object(call.caller, stored.container, stored.name)
    except NotFoundError:
        if stored.alone:
            raise
        return await call.api.fetch_template(url)


async def show(call: Call) -> dict[str, Any]:
    """Return the template of a stack as JSON text, or as written for ``TemplateStage=Original``."""
    data, text = await call.service.views.template(call.caller, await call.stack())
    if text is None or call.parameters.get("TemplateStage") != "Original":
        text = await call.api.compute(lambda: json.dumps(data, ensure_ascii=False, default=str))
    return {"TemplateBody": text}


async def validate(call: Call) -> dict[str, Any]:
    """Return the parameters of a template. Rejects an invalid one (400)."""
    summary = await call.service.descriptions.summary(call.caller, await _request(call))
    described = summary.description
    parameters = [
        {"ParameterKey": name, **_shown(body)} for name, body in described["Parameters"].items()
    ]
    return {
        "Description": described["Description"],
        "Parameters": parameters,
        "Environment": described.get("Environment", {}),
        **_capabilities(summary),
    }


async def summarize(call: Call) -> dict[str, Any]:
    """Return parameters and resources of a template, or of a stack's template."""
    parameters = call.parameters
    if parameters.get("StackName") and not any(name.startswith("Template") for name in parameters):
        request = await _request_of_stack(call)
    else:
        request = await _request(call)
    summary = await call.service.descriptions.summary(call.caller, request)
    declared = summary.description["Parameters"]
    shown = [
        {
            "ParameterKey": name,
            "ParameterType": body["Type"],
            **_shown(body),
            "ParameterConstraints": {"AllowedValues": list(body.get("AllowedValues", ()))},
        }
        for name, body in declared.items()
    ]
    metadata = await call.api.compute(lambda: json.dumps(summary.metadata, default=str))
    return {
        "Description": summary.description["Description"],
        "Parameters": shown,
        "ResourceTypes": sorted(set(summary.resource_types)),
        "Version": summary.version,
        "Metadata": metadata if summary.metadata else None,
        "DeclaredTransforms": list(summary.transforms),
        "ResourceIdentifierSummaries": [
            {
                "ResourceType": type_name,
                "LogicalResourceIds": list(names),
                "ResourceIdentifiers": [IDENTIFIER],
            }
            for type_name, names in sorted(summary.importable.items())
        ],
        **_capabilities(summary),
    }


async def estimate_cost(call: Call) -> dict[str, Any]:
    """Return the page that Heat's clients know: a private cloud has no price list."""
    return {"Url": "http://en.wikipedia.org/wiki/Gratis"}


async def _request(call: Call) -> StackRequest:
    template, template_file = await requested_template(call)
    return StackRequest(template=template, template_file=template_file, version_optional=True)


async def _request_of_stack(call: Call) -> StackRequest:
    stack, views = await call.stack(), call.service.views
    return replace(
        StackRequest(),
        template=(await views.template(call.caller, stack))[0],
        environment=await views.environment(call.caller, stack),
        files=await views.files(call.caller, stack),
    )


def _shown(body: Mapping[str, Any]) -> dict[str, Any]:
    shown = {key: body[name] for name, key in _PARAMETER_KEYS.items() if name in body}
    default = shown.get("DefaultValue")
    if isinstance(default, list | dict):
        shown["DefaultValue"] = json.dumps(default, default=str)
    return shown


def _capabilities(summary: TemplateSummary) -> dict[str, Any]:
    """Return the capabilities that AWS requires for the template; they are not required here."""
    found = sorted({name for name in summary.resource_types if name.startswith(_NEEDS_PERMISSION)})
    if not found:
        return {}
    reason = f"The following resource(s) require capabilities: [{', '.join(found)}]"
    return {"Capabilities": ["CAPABILITY_IAM"], "CapabilitiesReason": reason}
