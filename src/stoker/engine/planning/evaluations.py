"""From a recorded input to an evaluation: the bridge between rows and the template language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Struct

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Input, Stack
from stoker.template.document import Template, parse, parse_shared
from stoker.template.environment.environment import Environment, parse_environment
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Identity, Inputs
from stoker.template.functions.budget import Budget
from stoker.template.functions.scope import Facade, Imports
from stoker.template.source.source import Source


class Documents(Struct, frozen=True):
    """The documents of an input, parsed, so that nobody has to read them twice."""

    template: Template
    environment: Environment

    @classmethod
    def of(cls, recorded: Input) -> Documents:
        """Those of a recorded input. Raises DiagnosticError for a document that is refused."""
        environment = parse_environment(recorded.environment)
        if recorded.facade and recorded.text is not None:
            # many stacks may nest the same template
            return cls(parse_shared(recorded.text, recorded.template_file), environment)
        source = Source(recorded.template, recorded.text, recorded.template_file)
        return cls(parse(source), environment)


async def evaluation_at(
    ports: Ports,
    stack: Stack,
    input_id: str,
    given: Input | None = None,
    look: Callable[[Evaluation], None] | None = None,
) -> Evaluation:
    """The evaluation of a recorded input of a stack, which may be ``given``; ``look`` is called
    with it where it is computed, as each change of threads takes time.

    Raises DiagnosticError, NotFoundError, and what ``look`` raises.
    """
    known = ports.kept.get(input_id)
    if known is not None:
        if look is not None:
            await ports.workers.compute(partial(look, known))
        return known
    recorded = given or await ports.store.input(input_id)
    before = ports.kept.get(stack.input_id)

    def evaluate() -> Evaluation:
        documents = Documents.of(recorded)
        earlier = before or ports.kept.alike(documents.template)
        evaluation = evaluation_of(ports, stack, recorded, documents, earlier)
        # conditions cannot be computed by two threads at once
        evaluation.resolved.section_diagnostics()
        if look is not None:
            look(evaluation)
        return evaluation

    return ports.kept.put(input_id, await ports.workers.compute(evaluate))


def evaluation_of(
    ports: Ports,
    stack: Stack,
    recorded: Input,
    documents: Documents,
    earlier: Evaluation | None = None,
    unreachable: Mapping[str, str] | None = None,
) -> Evaluation:
    """The evaluation of a stack's input, with what it has in common with an earlier one.

    ``unreachable`` says why templates that it names could not be fetched.
    """
    identity = Identity(
        stack_name=stack.name,
        stack_id=stack.id,
        project_id=stack.project_id,
        region=ports.region,
        arn=stack.address.arn,
    )
    inputs = Inputs(
        identity=identity,
        environment=documents.environment,
        parameters=recorded.parameters,
        files=recorded.files,
        unreachable=unreachable or {},
        depth=stack.depth,
        max_depth=ports.limits.nested_depth,
        url=recorded.template_file if stack.parent_id else None,
        facade=Facade(**recorded.facade) if recorded.facade else None,
        service_environment=ports.service_environment,
        imports=Imports(recorded.imports),
        budget=Budget.of(ports.limits.resources_per_stack, ports.helpers),
    )
    return Evaluation(documents.template, inputs, ports.types, earlier)
