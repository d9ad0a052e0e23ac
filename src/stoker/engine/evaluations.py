"""From a recorded input to an evaluation: the bridge between rows and the template language."""

from __future__ import annotations

from collections import OrderedDict

from stoker.engine.ports import Ports
from stoker.engine.records import Input, Stack
from stoker.template.document import parse
from stoker.template.environment import parse_environment
from stoker.template.evaluation import Evaluation
from stoker.template.functions.scope import Facade
from stoker.template.inputs import Identity, Inputs
from stoker.template.source import Source


class Evaluations:
    """Evaluations of recorded inputs, kept for those who only look: inputs never change.

    At most ``size`` resources in all are kept, the longest unused given up first.
    """

    def __init__(self, ports: Ports, size: int = 50_000) -> None:
        self._ports = ports
        self._size = size
        self._kept: OrderedDict[str, Evaluation] = OrderedDict()
        self._resources = 0

    async def of(self, stack: Stack) -> Evaluation:
        """The evaluation of what the stack should be."""
        known = self._kept.get(stack.input_id)
        if known is not None:
            self._kept.move_to_end(stack.input_id)
            return known
        recorded = await self._ports.store.input(stack.input_id)
        made = await self._ports.workers.compute(
            lambda: evaluation_of(self._ports, stack, recorded)
        )
        if stack.input_id in self._kept:
            return self._kept[stack.input_id]
        self._kept[stack.input_id] = made
        self._resources += len(made.template.resources)
        while self._resources > self._size and len(self._kept) > 1:
            _, gone = self._kept.popitem(last=False)
            self._resources -= len(gone.template.resources)
        return made


def evaluation_of(ports: Ports, stack: Stack, recorded: Input) -> Evaluation:
    """The evaluation of a stack's input. Raises DiagnosticError for a document that is refused."""
    template = parse(Source(recorded.template, recorded.text, recorded.template_file))
    environment = parse_environment(recorded.environment)
    identity = Identity(
        stack_name=stack.name,
        stack_id=stack.id,
        project_id=stack.project_id,
        region=ports.region,
        arn=stack.address.arn,
    )
    inputs = Inputs(
        identity=identity,
        environment=environment,
        parameters=recorded.parameters,
        files=recorded.files,
        depth=stack.depth,
        max_depth=ports.limits.nested_depth,
        url=recorded.template_file if stack.parent_id else None,
        facade=Facade(**recorded.facade) if recorded.facade else None,
        service_registry=ports.service_registry,
    )
    return Evaluation(template, inputs, ports.types)
