"""One request to the load balancing API, and how a handler becomes a route."""

from collections.abc import Iterable
from typing import Any

from localcloud.core.store import Document
from localcloud.core.tags import FILTERS
from localcloud.load_balancer.errors import forbidden
from localcloud.load_balancer.model.kinds import Kind
from localcloud.load_balancer.model.state import State
from localcloud.load_balancer.service import LoadBalancingService
from localcloud.web.api_request import ApiCall
from localcloud.web.http import (
    ApiError,
    BadRequestError,
    PageQuery,
    boolean,
    fields,
    page,
)
from localcloud.web.permissions import Access

_CONTROL = frozenset({"fields", "limit", "marker", "sort", "sort_key", "sort_dir", "page_reverse"})


class Call(ApiCall[LoadBalancingService], frozen=True):
    """A request with everything that its handler needs."""

    base = "/v2"

    @staticmethod
    def refusal(needed: Access) -> ApiError:
        """Return the error for a caller who lacks a role."""
        return forbidden()

    @property
    def state(self) -> State:
        """The documents of the service."""
        return self.service.state

    def wrapped(self, name: str) -> Any:
        """Return the value under this name in the body; raises BadRequestError if it is missing."""
        found = self.body()
        if name not in found:
            raise BadRequestError(
                f"Invalid input for field/attribute {name}. Value: 'None'. Mandatory field missing."
            )
        return found[name]

    def one(self, name: str, document: Document) -> Document:
        """Return an object, or the fields of it that the query names."""
        return {name: fields(document, self._names())}

    def _names(self) -> list[str]:
        asked = self.request.query_params.getlist("fields")
        return [name for text in asked for name in text.split(",") if name]

    def listed(self, kind: Kind, shown: Iterable[Document]) -> Document:
        """Return those objects for which the query asks, one page of them."""
        query = self.request.query_params
        filters = [(key, value) for key, value in query.multi_items() if key not in _CONTROL]
        found = [each for each in shown if all(_passes(each, *pair) for pair in filters)]
        asked = PageQuery.parse(query)
        chosen = page(found, asked)
        names = self._names()
        answer: Document = {kind.plural: [fields(each, names) for each in chosen.items]}
        links = []
        if chosen.more and chosen.items:
            last = chosen.items[-1].get("id") or chosen.items[-1]["name"]
            links = self.next_link(self.request.url.path.removeprefix(self.base), last)
        answer[f"{kind.plural}_links"] = links
        return answer


def _passes(shown: Document, name: str, expected: str) -> bool:
    if name in FILTERS:
        asked = {tag for tag in expected.split(",") if tag}
        return FILTERS[name](set(shown.get("tags") or ()), asked)
    if name in ("tenant_id", "project_id"):
        return bool(shown.get("project_id") == expected)
    if name.endswith("_id") and f"{name[:-3]}s" in shown:
        return expected in [each["id"] for each in shown[f"{name[:-3]}s"]]
    if name not in shown:
        raise BadRequestError("One or more arguments are either duplicate or invalid")
    value = shown[name]
    if isinstance(value, bool):
        return value == boolean(expected)
    return ("" if value is None else str(value)) == expected
