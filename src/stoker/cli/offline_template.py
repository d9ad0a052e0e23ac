"""A template with its inputs, evaluated without a service."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from stoker.cli.arguments.files import Bundle
from stoker.kernel.diagnostics import Diagnostics
from stoker.kernel.values import replace
from stoker.resources.base.heat_catalog import WithDeclared
from stoker.resources.base.registry import Registry
from stoker.sandbox.sandbox import Sandbox
from stoker.template.definition import TypeRegistry
from stoker.template.document import Template, take_apart
from stoker.template.environment.files import environment_of
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Inputs
from stoker.template.functions.budget import Budget
from stoker.template.parameters.declarations import declare
from stoker.template.source.source import read


class OfflineTemplate(Struct, frozen=True):
    """A template and its inputs, ready to be evaluated."""

    template: Template
    structure: Diagnostics  # findings about the structure of the template
    inputs: Inputs
    helpers: Sandbox
    types: TypeRegistry

    @classmethod
    def of(
        cls,
        sent: Bundle,
        parameters: Mapping[str, str],
        helpers: Sandbox,
        types: TypeRegistry | None = None,
    ) -> OfflineTemplate:
        """Read a template and its environments. Raise ``DiagnosticError`` if that is impossible.

        ``types`` are those of earlier evaluations; None for new ones.
        """
        template, structure = take_apart(sent.source or read(sent.template))
        declared = declare(template.parameters, template.version, Diagnostics())
        environment = environment_of(None, list(sent.environment_files), sent.files, declared)
        inputs = Inputs(environment=environment, parameters=parameters, files=sent.files)
        return cls(template, structure, inputs, helpers, types or known_types())

    def evaluation(self, assumed: bool | None, earlier: Evaluation | None = None) -> Evaluation:
        """Return an evaluation; ``assumed`` is the value of conditions without values.

        Unchanged parts of an ``earlier`` one are not analysed again.
        """
        budget = Budget.of(-1, self.helpers)
        inputs = replace(self.inputs, budget=budget, assumed_conditions=assumed)
        return Evaluation(self.template, inputs, self.types, earlier)


def known_types() -> TypeRegistry:
    """Return the resource types, with those of Heat that cannot be deployed."""
    return WithDeclared(Registry())
