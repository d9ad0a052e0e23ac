"""Starts of executions: for a caller, or for a trigger on behalf of its creator."""

import json
from collections.abc import Mapping
from typing import Any

from localcloud.core.store import Document
from localcloud.identity.service_trusts import Trusts
from localcloud.web.http import BadRequestError, NotFoundError, RequestContext
from localcloud.workflow.engine.engine import Engine
from localcloud.workflow.engine.sub_executions import execution_of
from localcloud.workflow.errors import not_found
from localcloud.workflow.model.state import State


class ExecutionStarter:
    """Starts executions."""

    def __init__(self, state: State, trusts: Trusts, engine: Engine) -> None:
        self._state = state
        self._trusts = trusts
        self._engine = engine

    def asked(self, who: RequestContext, workflow: Document, **given: Any) -> Document:
        """Start an execution for a caller; return it."""
        project = who.require_project()
        given["params"] = self._with_env(project, given["params"])
        openstack = {
            "user_id": who.user_id,
            "user": who.user_id,
            "user_name": who.user_name,
            "project_id": project,
            "project": project,
            "project_name": who.project_name,
            "roles": list(who.roles),
            "is_admin": who.is_admin,
            "is_trust_scoped": who.trust_id is not None,
            "trust_id": who.trust_id,
            "request_id": who.request_id,
            "auth_uri": f"{self._state.cloud.settings.url}/identity/v3",
        }
        made = execution_of(
            self._state, workflow,
            project_id=project, user_id=who.user_id, openstack=openstack, **given,
        )  # fmt: skip
        self._state.make_room(project)
        made["trust_id"] = self._trusts.make(who)
        self._engine.start(made)
        return made

    def triggered(self, trigger: Document, description: str, params: Mapping[str, Any]) -> None:
        """Start the execution of a trigger; raises :class:`localcloud.web.http.ApiError`."""
        project = trigger["project_id"]
        workflow = self._state.workflows.get(trigger["workflow_id"])
        if workflow is None:
            raise not_found("Workflow", f"workflow_identifier={trigger['workflow_id']}")
        made = execution_of(
            self._state,
            workflow,
            project_id=project,
            user_id=trigger["user_id"],
            openstack=trigger["openstack"],
            description=description,
            input=trigger["workflow_input"],
            params=self._with_env(project, {**trigger["workflow_params"], **params}),
        )
        self._state.make_room(project)
        made["trust_id"] = self._trusts.copy(trigger["trust_id"])
        self._engine.start(made)

    def _with_env(self, project_id: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters with ``env`` replaced by the variables of the environment it names."""
        env = params.get("env") or {}
        if isinstance(env, str):
            named = self._state.named(project_id, self._state.environments, env)
            if named is not None:
                return {**params, "env": named["variables"]}
            try:
                env = json.loads(env)
            except ValueError as error:
                raise BadRequestError(f"Environment is not found: {env}") from error
        if not isinstance(env, dict):
            detail = f"Unexpected value type for environment [env={env!r:.100}]"
            raise BadRequestError(detail)
        return {**params, "env": env}

    def workflow(self, who: RequestContext, identifier: str, namespace: str = "") -> Document:
        """Return a workflow by id or name; raises NotFoundError."""
        found = self._state.workflow(who.require_project(), identifier, namespace)
        if found is None:
            raise NotFoundError(
                f"Workflow not found [workflow_identifier={identifier}, namespace={namespace}]"
            )
        return found
