"""What can be done with the objects of one kind."""

from collections.abc import Callable

from msgspec import Struct

from localcloud.core.store import Document
from localcloud.network.model.attributes import Resource
from localcloud.network.model.state import State
from localcloud.network.model.visibility import owns
from localcloud.web.http import RequestContext


class Operations(Struct, frozen=True):
    """One kind of object, and what is done with it that is not done with all kinds.

    What is not given only writes the document. Callers have been checked: they may see the object,
    and change or delete it.
    """

    resource: Resource
    create: Callable[[State, RequestContext, Document], Document] | None = None
    update: Callable[[State, RequestContext, Document, Document], Document] | None = None
    delete: Callable[[State, RequestContext, Document], None] | None = None
    # Returns the attributes that are not in the document.
    view: Callable[[State, RequestContext, Document], Document] | None = None
    may_delete: Callable[[State, RequestContext, Document], bool] = lambda _, who, it: owns(who, it)
