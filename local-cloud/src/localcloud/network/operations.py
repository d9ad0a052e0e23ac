"""What can be done with the objects of one kind."""

from collections.abc import Callable
from dataclasses import dataclass

from localcloud.http import RequestContext
from localcloud.network.attributes import Resource
from localcloud.network.state import State
from localcloud.store import Document


@dataclass(frozen=True)
class Operations:
    """One kind of object and what can be done with it."""

    resource: Resource
    create: Callable[[State, RequestContext, Document], Document]
    update: Callable[[State, RequestContext, Document, Document], Document]
    delete: Callable[[State, RequestContext, Document], None]
    view: Callable[[State, RequestContext, Document], Document]
    """Returns the attributes that are not in the document."""
