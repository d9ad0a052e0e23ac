"""Values of objects, and modules, that are computed or imported on first use."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from threading import RLock
from types import ModuleType
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")
_LOCK = "\0lock"


class lazy(Generic[Value]):  # noqa: N801 - used as a decorator, as property is
    """A property that is computed once.

    ``functools.cached_property`` of Python 3.11 has one lock for all objects of a class, so that a
    computation for one blocks all others; that of 3.12 has none, so that two threads compute the
    same. Here each object has a lock.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[Value]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> lazy[Value] | Value:
        if instance is None:
            return self
        values = vars(instance)
        with values.get(_LOCK) or values.setdefault(_LOCK, RLock()):
            if self._name not in values:
                values[self._name] = self._compute(instance)
            found: Value = values[self._name]
            return found


def defer(name: str) -> None:
    """Import a library on the first use of its attributes instead of by the statement.

    A module of ``importlib.util.LazyLoader`` would be executed by the statement, which reads its
    ``__spec__``.
    """
    spec = None if name in sys.modules else importlib.util.find_spec(name)
    if spec is None:
        return
    stub = ModuleType(name)

    def load(attribute: str) -> Any:
        if sys.modules.get(name) is stub:
            del sys.modules[name]
        return getattr(importlib.import_module(name), attribute)

    vars(stub).update(__spec__=spec, __getattr__=load)
    sys.modules[name] = stub


class LazyModule:
    """A module that takes long to import, and is imported on first use."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self._name), attribute)
