"""Checks of imports and releases, before a request is accepted.

The operation checks them again. Here, a wrong one is reported to the client, and nothing is left
behind. Tested by tests/imports.
"""

from __future__ import annotations

from collections.abc import Iterable

from stoker.engine.execution.nested.preview_tree import PreviewOptions, preview_tree
from stoker.engine.execution.observe.importing import NOTHING_IMPORTED, Imported
from stoker.engine.execution.session import StackRows
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Input, Resource, Stack, Status
from stoker.engine.model.requests import StackRequest
from stoker.engine.planning.imports import lacks_object
from stoker.template.evaluate.evaluation import Evaluation


async def require_objects(
    ports: Ports,
    stack: Stack,
    stack_input: Input,
    evaluation: Evaluation,
    request: StackRequest,
    *,
    is_new: bool = False,
) -> Imported:
    """Return the objects that a request imports into the stack itself.

    Raises DiagnosticError for an import or a release that is impossible.
    """
    changes_objects = bool(request.import_objects or request.keep_objects)
    if not changes_objects and not evaluation.imports:
        return NOTHING_IMPORTED
    if stack.status is Status.IN_PROGRESS and not is_new:
        return NOTHING_IMPORTED  # Its rows are still changing.
    rows: Iterable[Resource] = () if is_new else await ports.store.resources(stack.id)
    stack_rows = StackRows(ports, stack, rows)
    is_made = not any(lacks_object(stack_rows.current.get(name)) for name in evaluation.imports)
    if is_made and not changes_objects:
        return NOTHING_IMPORTED
    options = PreviewOptions.of(request)
    found = (await preview_tree(stack_rows, stack_input, evaluation, options)).prepared
    assert found is not None
    return found.imported
