"""The addresses of version 1 outside stacks: templates, types, the service, and software."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.api.rest.handlers import (
    overviews,
    resource_types,
    service_info,
    software,
    stacks,
    templates,
)
from stoker.api.rest.operation import Operation

_CONFIG = "/software_configs/{config_id}"
_DEPLOYMENT = "/software_deployments/{deployment_id}"

_TYPES: tuple[Operation, ...] = (
    Operation(
        "GET",
        "/resource_types",
        resource_types.index,
        "stacks:list_resource_types",
        resource_types.TypeList,
        query=resource_types.LIST_QUERY,
    ),
    Operation(
        "GET",
        "/resource_types/{type_name}",
        resource_types.show,
        "stacks:resource_schema",
        resource_types.TypeSchema,
        query=(resource_types.DESCRIBED,),
    ),
    Operation(
        "GET",
        "/resource_types/{type_name}/template",
        resource_types.template,
        "stacks:generate_template",
        Mapping[str, Any],
        query=(resource_types.TEMPLATE_TYPE,),
    ),
    Operation(
        "GET",
        "/template_versions",
        templates.list_versions,
        "stacks:list_template_versions",
        templates.VersionList,
    ),
    Operation(
        "GET",
        "/template_versions/{version}/functions",
        templates.list_functions,
        "stacks:list_template_functions",
        templates.FunctionList,
        query=(templates.WITH_CONDITION_FUNC,),
    ),
)

_SEARCH = Operation(
    "GET",
    "/search",
    overviews.search,
    "stacks:search",
    overviews.SearchAnswer,
    query=(overviews.TEXT, overviews.MATCHES),
)

# In the order in which they are matched: more specific ones first.
OF_PROJECT: tuple[Operation, ...] = (
    Operation(
        "POST",
        "/validate",
        templates.validate,
        "stacks:validate_template",
        templates.Validated,
        query=templates.VALIDATE_QUERY,
        body=stacks.StackBody,
    ),
    Operation(
        "GET",
        "/existing_template",
        templates.of_existing,
        "stacks:existing_template",
        templates.ExistingTemplate,
        query=templates.EXISTING_QUERY,
    ),
    Operation(
        "GET",
        "/constraint_choices/{constraint}",
        templates.list_choices,
        "stacks:list_choices",
        templates.ChoiceList,
    ),
    *_TYPES,
    Operation(
        "GET",
        "/build_info",
        service_info.build_info,
        "build_info:build_info",
        service_info.BuildInfo,
    ),
    Operation("GET", "/services", service_info.index, "service:index", service_info.EngineList),
    _SEARCH,
)

SOFTWARE: tuple[Operation, ...] = (
    Operation(
        "GET",
        "/software_configs",
        software.list_configs,
        "software_configs:index",
        software.ConfigList,
        query=software.CONFIGS_QUERY,
        further=("software_configs:global_index",),
    ),
    Operation(
        "POST",
        "/software_configs",
        software.create_config,
        "software_configs:create",
        software.Config,
        body=software.NewConfig,
    ),
    Operation("GET", _CONFIG, software.show_config, "software_configs:show", software.Config),
    Operation("DELETE", _CONFIG, software.delete_config, "software_configs:delete", status=204),
    Operation(
        "GET",
        "/software_deployments",
        software.list_deployments,
        "software_deployments:index",
        software.DeploymentList,
        query=software.DEPLOYMENTS_QUERY,
    ),
    Operation(
        "POST",
        "/software_deployments",
        software.create_deployment,
        "software_deployments:create",
        software.DeploymentAnswer,
        body=software.NewDeployment,
    ),
    Operation(
        "GET",
        "/software_deployments/metadata/{server_id}",
        software.metadata,
        "software_deployments:metadata",
        software.ServerMetadata,
    ),
    Operation(
        "GET",
        _DEPLOYMENT,
        software.show_deployment,
        "software_deployments:show",
        software.DeploymentAnswer,
    ),
    Operation(
        "PUT",
        _DEPLOYMENT,
        software.update_deployment,
        "software_deployments:update",
        software.DeploymentAnswer,
        body=software.DeploymentChanges,
    ),
    Operation(
        "DELETE",
        _DEPLOYMENT,
        software.delete_deployment,
        "software_deployments:delete",
        status=204,
    ),
)
