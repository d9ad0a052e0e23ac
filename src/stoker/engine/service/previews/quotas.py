"""The quotas that a plan counts against.

Takes a plan, adds up the use of the resources that it creates, and reads the limits of the cloud. A
plan is never rejected: others may delete objects before it is carried out. An object that
is replaced counts, because its replacement is created before it is deleted.
Tested by tests/operations/test_quotas.py.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from stoker.engine.execution.nested.preview_tree import PreviewedStack, facts_amid
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.plans import Change, Step, defined
from stoker.engine.model.records import Stack
from stoker.kernel.logs.log import Log
from stoker.schema.quotas import Quota, QuotaKeys
from stoker.template.evaluate.evaluation import Evaluation

log = Log(__name__)

_PATIENCE_SECONDS = 10.0
_CREATES = (Change.CREATE, Change.REPLACE, Change.REINSTATE)


async def quotas_of(ports: Ports, stack: Stack, use: QuotaKeys) -> Sequence[Quota]:
    """Return the quotas of a stack's project; none if the cloud does not answer in time."""
    if not use:
        return ()
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return await ports.workers.run("identity", lambda: ports.clouds.quotas(stack, use))
    except TimeoutError:
        log.info("quotas not read", stack=stack.name)
        return ()


def use_of_create(evaluation: Evaluation, imported: Collection[str] = ()) -> QuotaKeys:
    """Return the use of all resources of a stack and of its nested ones.

    Those in ``imported`` have objects already.
    """
    use: Counter[str] = Counter()
    for name, analysis in evaluation.analyses.items():
        if name in imported:
            continue
        definition = analysis.definition
        if definition is None or definition.external_id is not None:
            continue
        if definition.import_id is None:
            use.update(definition.type.quota_use(definition.properties))
    for child in evaluation.children.values():
        use.update(use_of_create(child))
    return use


def use_of_update(foreseen: PreviewedStack) -> QuotaKeys:
    """Return the use by an update, in addition to that of the present resources."""
    use: Counter[str] = Counter()
    for stack in foreseen.all():
        for each in _uses(stack):
            use.update(each)
    return {key: number for key, number in use.items() if number}


def _uses(stack: PreviewedStack) -> Iterator[Mapping[str, Any]]:
    rows, evaluation = stack.stack_rows, stack.evaluation
    facts = facts_amid(rows, stack.plan, stack.to_be)
    for node in stack.plan.nodes(Step.APPLY):
        row = rows.current.get(node.name)
        if node.change in _CREATES:
            child = evaluation.children.get(node.name)
            if child is not None:
                yield use_of_create(child)
        elif node.change is not Change.UPDATE or row is None:
            continue
        definition = defined(evaluation, node.name, facts)
        if definition.external_id is not None:
            continue
        new = definition.type.quota_use(definition.properties)
        if node.change in _CREATES or row is None:
            yield new
            continue
        old = definition.type.quota_use(row.properties)
        yield {key: new.get(key, 0) - old.get(key, 0) for key in {**old, **new}}
