"""Descriptions of templates and resource types, independent of stacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.requests import Caller, StackRequest
from stoker.engine.model.views import TemplateSummary
from stoker.engine.service.generation import Generation
from stoker.engine.service.requests.evaluate import evaluated, new_stack
from stoker.engine.service.stack_access.availability import unavailable
from stoker.kernel.diagnostics import Diagnostic, Diagnostics, Severity
from stoker.schema.helpers import ComputationError
from stoker.schema.inventory import NamedObject
from stoker.schema.resource_type import why_not_importable
from stoker.template.describe.description import describe_template
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.validation import as_template_diagnostics

_MATCHING_SECONDS = 0.5
_MOST_CHOICES = 500


class Descriptions:
    """Descriptions, for a caller."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    async def validate(
        self, caller: Caller, request: StackRequest, *, show_nested: bool = False
    ) -> tuple[Mapping[str, Any], Sequence[Diagnostic]]:
        """Return the description for the API's validate call, and warnings. Raises on errors."""
        evaluation, findings = await self._validated(caller, request)
        warnings = [d for d in findings if d.severity is not Severity.ERROR]
        description = await self._ports.workers.compute(
            lambda: describe_template(evaluation, show_nested=show_nested)
        )
        return description, warnings

    async def summary(self, caller: Caller, request: StackRequest) -> TemplateSummary:
        """Return the parameters and parts of a template. Raises on errors."""
        evaluation, _ = await self._validated(caller, request)
        template = evaluation.template
        description = await self._ports.workers.compute(
            lambda: describe_template(evaluation, show_nested=False)
        )
        return TemplateSummary(
            description,
            template.version.name,
            tuple(body.type_name for body in template.resources.values()),
            template.transforms,
            metadata=template.data.get("Metadata"),
            importable=_importable(evaluation),
        )

    async def of_existing(self, caller: Caller, roots: Sequence[str]) -> Mapping[str, Any]:
        """Return a template of existing objects; see :class:`Generation`."""
        return await Generation(self._ports).template(caller, roots)

    async def choices(self, caller: Caller, constraint: str) -> Sequence[NamedObject]:
        """Return objects that a custom constraint accepts, by name.

        Raises NotFoundError for a constraint without a list.
        """
        ports = self._ports
        stack = new_stack(ports, caller, "choices", StackRequest())
        service = constraint.partition(".")[0]
        return await ports.workers.run(
            service, lambda: ports.clouds.choices(stack, constraint, _MOST_CHOICES)
        )

    async def _validated(
        self, caller: Caller, request: StackRequest
    ) -> tuple[Evaluation, Diagnostics]:
        """Return a valid template, and the warnings about it."""
        stack = new_stack(self._ports, caller, request.name or "stack", request)
        found = await evaluated(self._ports, stack, request)
        evaluation, file = found.evaluation, found.evaluation.template.source.file
        findings = await self._ports.workers.compute(
            lambda: as_template_diagnostics(found.findings, file)
        )
        findings.raise_errors()
        return evaluation, findings

    async def unavailable(self, caller: Caller, names: Sequence[str]) -> Mapping[str, str]:
        """Return the reasons by name for those types that the caller's cloud does not offer."""
        stack = new_stack(self._ports, caller, "types", StackRequest())
        found = [self._ports.types.find(name) for name in names]
        return await unavailable(self._ports, stack, [each for each in found if each is not None])

    async def beginning_with(self, pattern: str, names: Sequence[str]) -> Sequence[str]:
        """Return the names whose start matches a regular expression of a user.

        A pattern that is malformed, or takes too long, matches nothing.
        """
        helpers = self._ports.helpers

        def fitting() -> list[str]:
            try:
                found, _ = helpers.fit(f"(?:{pattern}).*", names, _MATCHING_SECONDS)
            except ComputationError:
                return []
            return [name for name, fits in zip(names, found, strict=True) if fits]

        return await self._ports.workers.compute(fitting)


def _importable(evaluation: Evaluation) -> dict[str, list[str]]:
    """Return the names of the resources whose objects can be imported, by type."""
    found: dict[str, list[str]] = {}
    for name, type_ in evaluation.types.items():
        if why_not_importable(type_) is None:
            found.setdefault(evaluation.type_names[name], []).append(name)
    return found
