"""Previews of creates: evaluated like a create, and never recorded."""

from __future__ import annotations

from collections.abc import Sequence

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Stack
from stoker.engine.model.requests import Caller, StackQuery, StackRequest
from stoker.engine.model.secrets import masked_properties, masking_of
from stoker.engine.model.views import CreatePlanView, ResourceView
from stoker.engine.service.previews.quotas import quotas_of, use_of_create
from stoker.engine.service.requests.evaluate import evaluated_new, require_free
from stoker.engine.service.requests.object_checks import require_objects
from stoker.engine.service.requests.plan_fingerprints import of_create
from stoker.engine.service.stack_access.guards import most_stacks, require_room
from stoker.engine.service.stack_access.presenters import (
    attributes_to_be,
    resource_view,
    row_to_be,
    stack_view,
)
from stoker.kernel.graph import reverse
from stoker.kernel.values import replace
from stoker.schema.quotas import Quota
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.static_analysis import RecordedReferences

UNMADE = "None"  # shown as the id of a stack that is only previewed


async def preview_create(
    ports: Ports, caller: Caller, request: StackRequest, *, fingerprint: bool, quotas: bool
) -> CreatePlanView:
    """Return the stack and resources of a create, with fingerprint and quotas if wanted."""
    new = await evaluated_new(ports, caller, request, UNMADE)
    stack, evaluation = new.stack, new.evaluation
    await require_free(ports, caller, stack.name)
    if (most := most_stacks(ports.limits, caller)) is not None:
        require_room(await ports.store.count_stacks(caller.project_id, StackQuery()), most)

    found = await require_objects(ports, stack, new.input, evaluation, request, is_new=True)
    imported = found.ids
    counted: Sequence[Quota] = ()
    if quotas:
        use = await ports.workers.compute(lambda: use_of_create(evaluation, imported))
        counted = await quotas_of(ports, stack, use)

    def view() -> CreatePlanView:
        outputs = tuple(evaluation.outputs(RecordedReferences()))
        masking = masking_of(evaluation)
        views = [masked_properties(v, masking) for v in _views(ports, stack, evaluation)]
        views = [
            replace(view, physical_id=imported[view.name])
            if view.name in imported and view.parent_resource is None
            else view
            for view in views
        ]
        new_fingerprint = of_create(new.input, evaluation) if fingerprint else None
        return CreatePlanView(
            stack_view(stack, evaluation, outputs),
            views,
            new_fingerprint,
            counted,
            found.unreported,
        )

    return await ports.workers.compute(view)


def _views(ports: Ports, stack: Stack, evaluation: Evaluation) -> list[ResourceView]:
    """Return the resources that a stack would have, each followed by those of its nested stack."""
    facts, imports = RecordedReferences(), evaluation.imports
    needed = reverse(evaluation.dependencies)
    views = []
    for name in evaluation.names:
        row = row_to_be(ports, stack, evaluation, name)
        if imports.get(name):
            row = replace(row, physical_id=imports[name])
        attributes = attributes_to_be(evaluation.definition(name, facts))
        view = resource_view(stack, row, needed.get(name, ()), attributes)
        child = evaluation.children.get(name)
        if child is None:
            views.append(view)
            continue
        inner = replace(stack, name=f"{stack.name}-{name}", parent_resource=name)
        views += [replace(view, nested=inner.address), *_views(ports, inner, child)]
    return views
