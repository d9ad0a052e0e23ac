"""The operations on objects of one kind."""

from collections.abc import Callable

from msgspec import Struct

from localcloud.core.store import Document
from localcloud.network.model.attributes import Resource
from localcloud.network.model.state import State
from localcloud.network.model.visibility import owns
from localcloud.web.http import RequestContext


class Operations(Struct, frozen=True):
    """One kind of object, and its own part of each operation.

    An operation without an own part only writes the document. The caller's rights to see, change or
    delete the object are checked before.
    """

    resource: Resource
    create: Callable[[State, RequestContext, Document], Document] | None = None
    update: Callable[[State, RequestContext, Document, Document], Document] | None = None
    delete: Callable[[State, RequestContext, Document], None] | None = None
    # Returns the attributes that are not in the document.
    view: Callable[[State, RequestContext, Document], Document] | None = None
    may_delete: Callable[[State, RequestContext, Document], bool] = lambda _, who, it: owns(who, it)
