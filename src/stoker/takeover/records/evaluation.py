"""Evaluates the templates of Heat's stacks, without a service.

Types, policies and dependencies of resources are in templates, and not in Heat's rows.
"""

from __future__ import annotations

from msgspec import Struct

from stoker.engine.model.records import Input, Stack
from stoker.engine.planning.evaluations import Documents
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.json.text import dumps
from stoker.kernel.values import replace
from stoker.schema.helpers import NO_HELPERS, Helpers
from stoker.template.definition import Definition, TypeRegistry
from stoker.template.document import Template
from stoker.template.environment.environment import EMPTY, Environment, parse_environment
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Identity, Inputs
from stoker.template.evaluate.type_resolver import TemplateType
from stoker.template.functions.budget import Budget
from stoker.template.functions.scope import Facade

_MOST_KEPT = 20_000  # resources of evaluations that later stacks with an equal template reuse
_DEEPEST = 100


class _Known(Struct, frozen=True):
    template: Template  # as parsed; that of the evaluation has its loops written out
    evaluation: Evaluation


class Evaluator:
    """Evaluates inputs, and reuses the analyses of equal templates."""

    def __init__(
        self,
        types: TypeRegistry,
        service_environment: Environment = EMPTY,
        region: str | None = None,
        helpers: Helpers = NO_HELPERS,
    ) -> None:
        self.types = types
        self.region = region
        self._service_environment = service_environment
        self._helpers = helpers
        self._alike: dict[str, _Known] = {}  # by the text of the template
        self._kept = 0  # resources of these

    def evaluation(self, stack: Stack, stack_input: Input) -> Evaluation | None:
        """Return the evaluation; None for a template that cannot be read."""
        # Many stacks of a project have an equal template. It is parsed and analysed once.
        own = [stack.project_id, stack_input.text, stack_input.template_file]
        key = dumps([stack_input.template, *own])
        known = self._alike.get(key)
        try:
            if known is None:
                documents = Documents.of(stack_input)
            else:
                environment = parse_environment(stack_input.environment)
                documents = Documents(known.template, environment)
        except DiagnosticError:
            return None
        inputs = Inputs(
            identity=Identity(
                stack_name=stack.name,
                stack_id=stack.id,
                project_id=stack.project_id,
                region=self.region,
                arn=stack.address.arn,
            ),
            environment=documents.environment,
            parameters=stack_input.parameters,
            files=stack_input.files,
            depth=stack.depth,
            max_depth=_DEEPEST,
            url=stack_input.template_file if stack.parent_id else None,
            facade=Facade(**stack_input.facade) if stack_input.facade else None,
            service_environment=self._service_environment,
            budget=Budget.of(-1, self._helpers),
        )
        earlier = None if known is None else known.evaluation
        evaluation = Evaluation(documents.template, inputs, self.types, earlier)
        if known is None:
            self._keep(key, _Known(documents.template, evaluation))
        return evaluation

    def _keep(self, key: str, known: _Known) -> None:
        self._alike[key] = known
        self._kept += len(known.template.resources)
        while self._kept > _MOST_KEPT and len(self._alike) > 1:
            oldest = self._alike.pop(next(iter(self._alike)))
            self._kept -= len(oldest.template.resources)


def definition_of(evaluation: Evaluation | None, name: str) -> Definition | None:
    """Return the definition of a resource, with unknown values for references; or None."""
    if evaluation is None or name not in evaluation.analyses:
        return None
    definition = evaluation.analyses[name].definition
    if definition is None:
        return None
    return replace(definition, dependencies=evaluation.dependencies[name])


def implementation_of(
    name: str, evaluation: Evaluation | None, definition: Definition | None
) -> str:
    """Return the name of the type that manages the object of a resource; empty if unknown."""
    if definition is not None:
        type_ = definition.type
        return type_.implementation if isinstance(type_, TemplateType) else type_.type_name
    return "" if evaluation is None else evaluation.type_names.get(name, "")
