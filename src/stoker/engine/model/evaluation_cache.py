"""A cache of evaluations by input. Inputs never change, so an entry is never outdated.

Accepted requests leave their evaluation here for the driver, the views and the next update. The
cache only saves time: a missing evaluation is computed again.

Invariant: at most 192 MiB by estimate, in which shared parts count once; at most the two newest
evaluations of a stack, which are its present and its desired state, and that of its last preview.
Tested by tests/operations/test_evaluation_cache.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any
from weakref import WeakValueDictionary

from stoker.engine.model.mask_cache import MaskCache
from stoker.engine.model.requests import StackRequest
from stoker.engine.model.settled_stacks import SettledStacks
from stoker.kernel.json.content import weight_of
from stoker.kernel.json.tree import marshalled
from stoker.template.document import Template
from stoker.template.evaluate.evaluation import Evaluation

MAX_BYTES = 192 * 1024 * 1024
_MAX_PER_STACK = 2  # the present state and the desired one
_PREVIEW_OF = "preview of "  # prefix of keys that are no ids of inputs
_RESOURCE_BYTES = 4096
_VALUE_BYTES = 100
_MAX_COUNTED_VALUES = 100_000  # an estimate ends here, after a few milliseconds
_FEW = 100  # entries of a section that are written in one step
# The text of a template or the digest of its data, and the name of its file.
DocumentKey = tuple[str | bytes, str | None]


class _Shared:
    """A part that several evaluations refer to, which counts once."""

    __slots__ = ("size", "users")

    def __init__(self, size: int) -> None:
        self.size = size
        self.users = 0


class EvaluationCache:
    """At most ``max_bytes`` in all; the least recently used evaluation is dropped first."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self.settled = SettledStacks()
        self.masks = MaskCache()
        self._bytes = 0
        self._alike: WeakValueDictionary[int, Evaluation] = WeakValueDictionary()
        self._of_documents: WeakValueDictionary[DocumentKey, Evaluation] = WeakValueDictionary()
        # By input, with its own bytes; the least recently used first.
        self._entries: OrderedDict[str, tuple[Evaluation, int]] = OrderedDict()
        self._shared: dict[int, _Shared] = {}
        self._of_stack: dict[str, list[str]] = {}  # input ids by stack, the newest last
        self._used: set[str] = set()  # input ids read since the last `forget_unused`

    def get(self, input_id: str) -> Evaluation | None:
        """Return the evaluation of an input, if it is cached."""
        found = self._entries.get(input_id)
        if found is None:
            return None
        self._used.add(input_id)
        self._entries.move_to_end(input_id)
        return found[0]

    def put(self, input_id: str, evaluation: Evaluation) -> Evaluation:
        """Cache an evaluation unless the input already has one. Return the cached one."""
        known = self.get(input_id)
        if known is not None:
            return known
        self._used.add(input_id)
        # Keep the first one. A chain of evaluations that each reuse the one before would hold all.
        self._alike.setdefault(id(evaluation.template), evaluation)
        self._add(input_id, evaluation)
        inputs = self._of_stack.setdefault(evaluation.inputs.identity.stack_id, [])
        inputs.append(input_id)
        for older in inputs[:-_MAX_PER_STACK]:
            self._drop(older)
        self._shrink()
        return evaluation

    def keep_previewed(self, evaluation: Evaluation) -> None:
        """Cache the evaluation of the last preview of a stack: many requests follow one."""
        key = _PREVIEW_OF + evaluation.inputs.identity.stack_id
        if key in self._entries:
            self._drop(key)
        self._used.add(key)
        self._add(key, evaluation)
        self._shrink()

    def previewed(self, stack_id: str, template: Any) -> Evaluation | None:
        """Return the evaluation of the last preview of a stack, if its document seems the same.

        Values that Python takes for equal, as 1 and True, may differ. Safe to call from threads.
        """
        found, _ = self._entries.get(_PREVIEW_OF + stack_id, (None, 0))
        return None if found is None or found.template.source.data != template else found

    def _shrink(self) -> None:
        # An evaluation larger than the whole cache is its only entry.
        while self._bytes > self._max_bytes and len(self._entries) > 1:
            self._drop(next(iter(self._entries)))

    def forget_unused(self) -> None:
        """Drop evaluations that were not used since the last call, as those of deleted stacks."""
        for input_id in set(self._entries) - self._used:
            self._drop(input_id)
        self._used.clear()

    def alike(self, template: Template) -> Evaluation | None:
        """Return an evaluation of the same parsed template, if there is one."""
        return self._alike.get(id(template))

    @staticmethod
    def document_key(request: StackRequest) -> DocumentKey | None:
        """Return a key that only requests with the same template have; None for unusual ones."""
        template, digest = request.template, sha256()
        if request.version_optional or template is None:
            return None
        if isinstance(template, str):
            return template, request.template_file
        for part in _parts_of(template):
            written = marshalled(part)
            if written is None:
                return None
            digest.update(written)
        return digest.digest(), request.template_file

    def of_document(self, key: DocumentKey | None) -> Evaluation | None:
        """Return an evaluation of the same document. Safe to call from threads."""
        return None if key is None else self._of_documents.get(key)

    def note_document(self, key: DocumentKey | None, evaluation: Evaluation) -> None:
        """Note an evaluation that is complete, unless its document has one. Safe as well."""
        # Loops are written out in the template of an evaluation.
        if key is not None and not evaluation.template.transforms:
            self._of_documents.setdefault(key, evaluation)

    def forget_older(self, stack_id: str, input_id: str | None) -> None:
        """Drop the evaluations of a stack that are older than that of an input; all for None."""
        inputs = self._of_stack.get(stack_id, [])
        newest = inputs.index(input_id) if input_id in inputs else 0
        for older in inputs[: len(inputs) if input_id is None else newest]:
            self._drop(older)

    def _add(self, input_id: str, evaluation: Evaluation) -> None:
        own = _own_bytes(evaluation)
        self._entries[input_id] = evaluation, own
        self._bytes += own
        for part in _parts(evaluation):
            shared = self._shared.get(id(part))
            if shared is None:
                shared = self._shared[id(part)] = _Shared(_bytes_of(part))
                self._bytes += shared.size
            shared.users += 1

    def _drop(self, input_id: str) -> None:
        evaluation, own = self._entries.pop(input_id)
        self._bytes -= own
        for part in _parts(evaluation):
            shared = self._shared[id(part)]
            shared.users -= 1
            if not shared.users:
                self._bytes -= self._shared.pop(id(part)).size
        stack_id = evaluation.inputs.identity.stack_id
        inputs = self._of_stack.get(stack_id)
        if inputs is None or input_id not in inputs:
            return  # of a preview
        inputs.remove(input_id)
        if not inputs:
            del self._of_stack[stack_id]


def _parts_of(template: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a document, large sections by entry: no other thread can run meanwhile."""
    for name, section in template.items():
        if type(section) is dict and len(section) > _FEW:
            yield name, len(section)
            yield from section.items()
        else:
            yield name, section


def _own_bytes(evaluation: Evaluation) -> int:
    """Estimate the bytes of an evaluation and of its evaluated nested templates."""
    # Count the template, too. Many stacks without resources would otherwise cost nothing.
    nested = vars(evaluation).get("children", {})
    resources = 1 + len(evaluation.template.resources)
    own = resources * _RESOURCE_BYTES + _bytes_of(evaluation.inputs.parameters)
    return own + sum(map(_own_bytes, nested.values()))


def _parts(evaluation: Evaluation) -> tuple[Any, ...]:
    """Return the parts that evaluations may share, which count once."""
    inputs = evaluation.inputs
    environment = inputs.environment
    return (
        evaluation.template.source.data,
        inputs.files,
        environment.parameter_defaults,
        environment.resource_registry,
    )


def _bytes_of(part: Any) -> int:
    """Estimate the bytes of a part within a few milliseconds."""
    values, octets = weight_of(part, _MAX_COUNTED_VALUES, MAX_BYTES)
    return values * _VALUE_BYTES + octets
