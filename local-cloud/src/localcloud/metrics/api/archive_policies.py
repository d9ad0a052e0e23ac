"""The requests on archive policies, their rules, and resource types."""

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.metrics.api.call import body
from localcloud.metrics.errors import invalid, missing
from localcloud.metrics.model import archive_policies
from localcloud.metrics.model.creation import check_type
from localcloud.metrics.model.state import State
from localcloud.web.http import (
    Answer,
    BadRequestError,
    ConflictError,
    ForbiddenError,
    context,
    route,
)

_MOST = 100


class Administration:
    """The requests on objects that administrators create and all users read."""

    def __init__(self, state: State) -> None:
        self._state = state

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        policies, rules = "/v1/archive_policy", "/v1/archive_policy_rule"
        types = "/v1/resource_type"
        return [
            route("GET", policies, self._policies),
            route("POST", policies, self._add_policy, 201),
            route("GET", f"{policies}/{{name}}", self._policy),
            route("DELETE", f"{policies}/{{name}}", self._remove_policy),
            route("GET", rules, self._rules),
            route("POST", rules, self._add_rule, 201),
            route("GET", f"{rules}/{{name}}", self._rule),
            route("DELETE", f"{rules}/{{name}}", self._remove_rule),
            route("GET", types, self._types),
            route("POST", types, self._add_type, 201),
            route("GET", f"{types}/{{name}}", self._type),
            route("DELETE", f"{types}/{{name}}", self._remove_type),
        ]

    async def _policies(self, request: Request) -> Answer:
        found = self._state.all_policies()
        return JSONResponse([archive_policies.shown(each) for each in found])

    async def _policy(self, request: Request) -> Document:
        return archive_policies.shown(self._state.policy(request.path_params["name"]))

    async def _add_policy(self, request: Request) -> Document:
        self._administer(request, len(self._state.policies))
        made = archive_policies.parsed(await body(request))
        if any(each["id"] == made["id"] for each in self._state.all_policies()):
            raise ConflictError(f"Archive policy {made['id']} already exists")
        self._state.policies.put(made)
        return archive_policies.shown(made)

    async def _remove_policy(self, request: Request) -> None:
        self._administer(request)
        found = self._state.policy(request.path_params["name"])
        used = any(each["archive_policy_name"] == found["id"] for each in self._uses())
        if used or found["id"] not in self._state.policies:
            raise BadRequestError(f"Archive policy {found['id']} is still in use")
        self._state.policies.delete(found["id"])

    def _uses(self) -> list[Document]:
        return [*self._state.metrics.values(), *self._state.all_rules()]

    async def _rules(self, request: Request) -> Answer:
        return JSONResponse([_shown_rule(each) for each in self._state.all_rules()])

    async def _rule(self, request: Request) -> Document:
        return _shown_rule(self._found_rule(request))

    async def _add_rule(self, request: Request) -> Document:
        self._administer(request, len(self._state.rules))
        given = await body(request)
        names = ("name", "metric_pattern", "archive_policy_name")
        values = [given.get(name) for name in names]
        if not all(isinstance(value, str) and 0 < len(value) <= 255 for value in values):
            raise invalid(f"a rule needs {', '.join(names)}")
        self._state.policy(given["archive_policy_name"])
        if any(each["id"] == given["name"] for each in self._state.all_rules()):
            raise ConflictError(f"Archive policy rule {given['name']} already exists")
        made = dict(zip(("id", *names[1:]), values, strict=True))
        self._state.rules.put(made)
        return _shown_rule(made)

    async def _remove_rule(self, request: Request) -> None:
        self._administer(request)
        found = self._found_rule(request)
        if found["id"] not in self._state.rules:
            raise BadRequestError(f"Archive policy rule {found['id']} belongs to the cloud")
        self._state.rules.delete(found["id"])

    def _found_rule(self, request: Request) -> Document:
        name = request.path_params["name"]
        for each in self._state.all_rules():
            if each["id"] == name:
                return each
        raise missing("Archive policy rule", name)

    async def _types(self, request: Request) -> Answer:
        return JSONResponse([self._shown_type(name) for name in self._state.type_names()])

    async def _type(self, request: Request) -> Document:
        return self._shown_type(request.path_params["name"])

    async def _add_type(self, request: Request) -> Document:
        self._administer(request, len(self._state.types))
        made = check_type(self._state, await body(request))
        self._state.types.put(made)
        return self._shown_type(made["id"])

    async def _remove_type(self, request: Request) -> None:
        self._administer(request)
        name = request.path_params["name"]
        self._state.attributes(name)
        used = next(self._state.resources.find(type=name), None) is not None
        if used or name not in self._state.types:
            raise BadRequestError(f"Resource type {name} is still in use")
        self._state.types.delete(name)

    def _shown_type(self, name: str) -> Document:
        text = {"type": "string", "min_length": 0, "max_length": 255, "required": False}
        own = (self._state.types.get(name) or {"attributes": {}})["attributes"]
        attributes = {each: own.get(each) or text for each in self._state.attributes(name)}
        return {"name": name, "state": "active", "attributes": attributes}

    def _administer(self, request: Request, count: int = 0) -> None:
        if not context(request).is_admin:
            raise ForbiddenError("Insufficient privileges")
        if count >= _MOST:
            raise BadRequestError(f"There are {_MOST} of these already; remove one.")


def _shown_rule(rule: Document) -> Document:
    return {"name": rule["id"], **{k: v for k, v in rule.items() if k != "id"}}
