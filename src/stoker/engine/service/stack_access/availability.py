"""Checks which resource types a cloud has services for."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Stack
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError
from stoker.kernel.errors import TYPE_UNAVAILABLE
from stoker.schema.resource_type import ResourceType
from stoker.template.evaluate.evaluation import Evaluation, in_tree

# Services of every cloud, which need no look-up.
_EVERYWHERE = frozenset({"compute", "identity", "image", "network"})


async def unavailable(
    ports: Ports, stack: Stack, types: Collection[ResourceType]
) -> Mapping[str, str]:
    """Return the reasons by name for those types that the cloud of a stack does not offer.

    The stack's credentials are used. Types of unknown availability count as available.
    """
    required = {
        type_.type_name: (type_.service, type_.extension)
        for type_ in types
        if type_.service and (type_.extension or type_.service not in _EVERYWHERE)
    }
    if not required:
        return {}
    dependencies = [*dict.fromkeys(required.values())]
    found = await ports.workers.run("catalog", lambda: ports.clouds.lacking(stack, dependencies))
    reasons = dict(zip(dependencies, found, strict=True))
    return {
        name: f"Service {need[0]} is not available for resource type {name}, reason: {reason}"
        for name, need in required.items()
        if (reason := reasons[need]) is not None
    }


async def require_services(ports: Ports, stack: Stack, evaluation: Evaluation) -> None:
    """Raise DiagnosticError for resources, also nested ones, whose service the cloud lacks."""
    tree = [*in_tree(evaluation)]
    used = [type_ for each in tree for type_ in each.types.values()]
    reasons = await unavailable(ports, stack, used)
    if not reasons:
        return
    found = []
    for each in tree:
        template = each.template
        for name, type_ in each.types.items():
            if (reason := reasons.get(type_.type_name)) is not None:
                path = (*template.resources[name].path, template.version.dialect.type)
                error = Diagnostic("unavailable-type", reason, path, error_type=TYPE_UNAVAILABLE)
                found.append(template.source.located(error))
    raise DiagnosticError(found)
