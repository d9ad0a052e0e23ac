"""Evaluates recorded inputs: from rows of the store to the template language.

Takes the id of an input, or the input. Produces its :class:`Evaluation`, from the cache of this
process if possible. An evaluation reuses the analyses of an earlier one of the same stack, or of
another stack with the same template.

Invariant: the same input always gives the same definitions, because it is recorded with all that
it depends on: files, fetched templates, imported values.

Requests, operations and views call it; it computes on a thread.
Tested by tests/operations/test_evaluation_cache.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Struct

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Input, Stack
from stoker.engine.planning.verification import verified_evaluation
from stoker.kernel.json.text import dumps, loads
from stoker.kernel.values import replace
from stoker.template.definition import TypeRegistry
from stoker.template.document import Template, parse, parse_shared, read_template
from stoker.template.environment.environment import Environment, parse_environment
from stoker.template.evaluate.evaluation import Evaluation, evaluates
from stoker.template.evaluate.inputs import Identity, Inputs
from stoker.template.functions.budget import Budget
from stoker.template.functions.scope import Facade, Imports
from stoker.template.source.source import Source


class Documents(Struct, frozen=True):
    """The parsed template and environment of an input."""

    template: Template
    environment: Environment

    @classmethod
    def of(cls, recorded: Input) -> Documents:
        """Parse the documents of a recorded input. Raises DiagnosticError for an invalid one."""
        environment = parse_environment(recorded.environment)
        if recorded.facade and recorded.text is not None:
            # Share the parsed text: many nested stacks may have the same template.
            return cls(parse_shared(recorded.text, recorded.template_file), environment)
        source = Source(recorded.template, recorded.text, recorded.template_file)
        return cls(parse(source), environment)


async def evaluation_at(
    ports: Ports,
    stack: Stack,
    input_id: str,
    recorded: Input | None = None,
    check: Callable[[Evaluation], None] | None = None,
) -> Evaluation:
    """Return the evaluation of an input of a stack; ``recorded`` saves reading it.

    ``check`` is called with the evaluation on the thread that computes it, because each change of
    threads takes time. Raises DiagnosticError, NotFoundError, and the errors of ``check``.
    """
    known = ports.evaluations.get(input_id)
    if known is not None:
        if check is not None:
            await ports.workers.compute(partial(check, known))
        return known
    input_ = recorded or await ports.store.input(input_id)
    before = ports.evaluations.get(stack.input_id)

    def evaluate() -> Evaluation:
        documents = Documents.of(input_)
        earlier = before or ports.evaluations.alike(documents.template)
        evaluation = evaluation_of(ports, stack, input_, documents, earlier)
        # Compute conditions now. The cached evaluation is shared, and two threads must not compute
        # them at the same time.
        evaluation.resolved.section_diagnostics()
        if check is not None:
            check(evaluation)
        if earlier is not None and evaluation.inputs.budget.is_exceeded:
            # Reused work may have counted twice.
            evaluation = evaluation_of(ports, stack, input_, documents)
            evaluation.resolved.section_diagnostics()
            if check is not None:
                check(evaluation)
        return evaluation

    return ports.evaluations.put(input_id, await ports.workers.compute(evaluate))


def evaluation_of(
    ports: Ports,
    stack: Stack,
    recorded: Input,
    documents: Documents,
    earlier: Evaluation | None = None,
    unreachable: Mapping[str, str] | None = None,
) -> Evaluation:
    """Return the evaluation of an input; it reuses equal parts of an ``earlier`` one, or all.

    ``unreachable`` has the reasons why templates could not be fetched, by address.
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
    # Counted now, on a thread: the cache and the next update ask for it.
    _ = documents.template.size
    if earlier is None:
        return Evaluation(documents.template, inputs, ports.types)
    if evaluates(earlier, documents.template, inputs):
        found = earlier
    else:
        found = Evaluation(documents.template, inputs, ports.types, earlier)
    return verified_evaluation(
        ports.verification, found, lambda: _anew(documents.template.source, inputs, ports.types)
    )


def _anew(source: Source, inputs: Inputs, types: TypeRegistry) -> Evaluation:
    """Return an evaluation that reuses nothing."""
    written = source.text if source.text is not None else loads(dumps(source.data))
    inputs = replace(inputs, budget=replace(inputs.budget))
    return Evaluation(parse(read_template(written, source.file)), inputs, types)
