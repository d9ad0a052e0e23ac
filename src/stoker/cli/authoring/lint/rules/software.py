"""Rules about software deployments, signals and wait conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, rule
from stoker.cli.authoring.lint.views import Resource, TemplateView, as_number

_SERVER = "OS::Nova::Server"
_DEPLOYMENTS = ("OS::Heat::SoftwareDeployment", "OS::Heat::StructuredDeployment")
_GROUPS = (
    "OS::Heat::SoftwareDeploymentGroup", "OS::Heat::SoftwareDeployments",
    "OS::Heat::StructuredDeploymentGroup", "OS::Heat::StructuredDeployments",
)  # fmt: skip
_CONFIGS = ("OS::Heat::SoftwareConfig", "OS::Heat::StructuredConfig", "OS::Heat::SoftwareComponent")
_WAITS = ("OS::Heat::WaitCondition", "OS::Heat::SwiftSignal")
_STACK_TIMEOUT_SECONDS = 3600


def _servers_of(view: TemplateView, deployment: Resource) -> Iterator[Resource]:
    """Yield the servers of the template that a deployment names."""
    written = [deployment.properties.get("server")]
    servers = deployment.properties.get("servers")
    if isinstance(servers, Mapping):
        written += servers.values()
    for each in written:
        server = view.by_name.get(view.resource_in(each) or "")
        if server is not None and server.type == _SERVER:
            yield server


@rule(
    Group.CORRECTNESS,
    "A server with deployments does not run them.",
    why="""The agent of the server is only configured with the format SOFTWARE_CONFIG. Without it,
        the deployment waits for a signal until the stack fails.""",
    remedy="Set user_data_format: SOFTWARE_CONFIG.",
    bad="""
        resources:
          config:
            type: OS::Heat::SoftwareConfig
            properties: {group: script, config: "echo done"}
          server:  # here
            type: OS::Nova::Server
            properties: {image: agent, flavor: small, networks: [{port: web}]}
          deployment:
            type: OS::Heat::SoftwareDeployment
            properties: {config: {get_resource: config}, server: {get_resource: server}}
        """,
    good="""
        resources:
          config:
            type: OS::Heat::SoftwareConfig
            properties: {group: script, config: "echo done"}
          server:
            type: OS::Nova::Server
            properties:
              image: agent
              flavor: small
              networks: [{port: web}]
              user_data_format: SOFTWARE_CONFIG
          deployment:
            type: OS::Heat::SoftwareDeployment
            properties: {config: {get_resource: config}, server: {get_resource: server}}
        """,
)
def deployment_without_agent(view: TemplateView) -> Problems:
    """Yield servers of deployments with another format of user data."""
    seen: set[str] = set()
    for deployment in view.of_type(*_DEPLOYMENTS, *_GROUPS):
        for server in _servers_of(view, deployment):
            kind = view.constant(server.properties.get("user_data_format"))
            if server.name in seen or not (kind is None or kind in ("RAW", "HEAT_CFNTOOLS")):
                continue
            seen.add(server.name)
            path = server.path if kind is None else server.at("user_data_format")
            yield Problem(f'"{server.name}" does not run its deployments', path)


@rule(
    Group.MAINTAINABILITY,
    "A server waits for deployments that there are not.",
    level=Level.STRICT,
    why="The format SOFTWARE_CONFIG creates a user and polls the service, for nothing.",
    remedy="Use the format RAW, or add the deployments.",
    bad="""
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: agent
              flavor: small
              key_name: operators
              networks: [{port: web}]
              user_data_format: SOFTWARE_CONFIG  # here
        """,
    good="""
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: agent
              flavor: small
              key_name: operators
              networks: [{port: web}]
              user_data_format: RAW
        """,
)
def agent_without_deployment(view: TemplateView) -> Problems:
    """Yield servers with an agent that nothing refers to."""
    used = {each.name for each in view.resource_references}
    for server in view.of_type(_SERVER):
        kind = view.constant(server.properties.get("user_data_format"))
        if kind == "SOFTWARE_CONFIG" and server.name not in used and not server.is_member:
            yield Problem("the server has no deployments", server.at("user_data_format"))


@rule(
    Group.CORRECTNESS,
    "An output of a deployment is read that sends no signal.",
    why="With NO_SIGNAL the values of outputs never arrive, so the attribute stays empty.",
    remedy="Use another signal_transport, as HEAT_SIGNAL or CFN_SIGNAL.",
    bad="""
        resources:
          deployment:
            type: OS::Heat::SoftwareDeployment
            properties: {config: setup, server: web, signal_transport: NO_SIGNAL}
        outputs:
          text:
            value: {get_attr: [deployment, deploy_stdout]}  # here
        """,
    good="""
        resources:
          deployment:
            type: OS::Heat::SoftwareDeployment
            properties: {config: setup, server: web, signal_transport: HEAT_SIGNAL}
        outputs:
          text:
            value: {get_attr: [deployment, deploy_stdout]}
        """,
)
def output_without_signal(view: TemplateView) -> Problems:
    """Yield attributes of deployments with NO_SIGNAL."""
    silent = {
        each.name
        for each in view.of_type(*_DEPLOYMENTS, *_GROUPS)
        if view.constant(each.properties.get("signal_transport")) == "NO_SIGNAL"
    }
    for reference in view.resource_references:
        if reference.name in silent and reference.rest and reference.rest[0] != "show":
            yield Problem(f'"{reference.name}" sends no signal', reference.path)


def _configs(view: TemplateView) -> Iterator[tuple[Resource, Resource]]:
    """Yield deployments with the configurations of the template that they run."""
    for deployment in view.of_type(*_DEPLOYMENTS, *_GROUPS):
        config = view.by_name.get(view.resource_in(deployment.properties.get("config")) or "")
        if config is not None and config.type in _CONFIGS:
            yield deployment, config


def _names(view: TemplateView, config: Resource, key: str) -> list[str] | None:
    """Return the names of inputs or outputs; None if they are not all known."""
    written = config.properties.get(key)
    if written is not None and not isinstance(written, list):
        return None
    names = [each.get("name") if isinstance(each, Mapping) else None for each in written or ()]
    if any(not isinstance(name, str) for name in names):
        return None
    return [str(name) for name in names]


@rule(
    Group.CORRECTNESS,
    "A deployment gives a value to an input that its configuration does not declare.",
    why="An undeclared input is often misspelled: the script does not get the value.",
    remedy="Declare the input in the configuration, or correct the name.",
    bad="""
        resources:
          config:
            type: OS::Heat::SoftwareConfig
            properties: {group: script, config: 'echo "$port"', inputs: [{name: port}]}
          deployment:
            type: OS::Heat::SoftwareDeployment
            properties:
              config: {get_resource: config}
              server: web
              input_values: {prot: 80}  # here
        """,
    good="""
        resources:
          config:
            type: OS::Heat::SoftwareConfig
            properties: {group: script, config: 'echo "$port"', inputs: [{name: port}]}
          deployment:
            type: OS::Heat::SoftwareDeployment
            properties:
              config: {get_resource: config}
              server: web
              input_values: {port: 80}
        """,
)
def undeclared_input(view: TemplateView) -> Problems:
    """Yield inputs that are given and not declared, if the configuration declares any."""
    for deployment, config in _configs(view):
        declared = _names(view, config, "inputs")
        given = deployment.properties.get("input_values")
        if not declared or not isinstance(given, Mapping) or view.call_in(given) is not None:
            continue
        for name in given:
            if name not in declared:
                message = f'the configuration has no input "{name}"'
                yield Problem(message, deployment.at("input_values", name))


@rule(
    Group.CORRECTNESS,
    "An output of a deployment is read that its configuration does not declare.",
    why="Only declared outputs are sent with the signal, so the attribute stays empty.",
    remedy="Declare the output in the configuration, or correct the name.",
    bad="""
        resources:
          config:
            type: OS::Heat::SoftwareConfig
            properties:
              group: script
              config: "echo 1 > $heat_outputs_path.result"
              outputs: [{name: result}]
          deployment:
            type: OS::Heat::SoftwareDeployment
            properties: {config: {get_resource: config}, server: web}
        outputs:
          result:
            value: {get_attr: [deployment, results]}  # here
        """,
    good="""
        resources:
          config:
            type: OS::Heat::SoftwareConfig
            properties:
              group: script
              config: "echo 1 > $heat_outputs_path.result"
              outputs: [{name: result}]
          deployment:
            type: OS::Heat::SoftwareDeployment
            properties: {config: {get_resource: config}, server: web}
        outputs:
          result:
            value: {get_attr: [deployment, result]}
        """,
)
def undeclared_output(view: TemplateView) -> Problems:
    """Yield attributes of deployments that are no outputs of their configurations."""
    declared = {
        deployment.name: _names(view, config, "outputs") for deployment, config in _configs(view)
    }
    for reference in view.resource_references:
        names = declared.get(reference.name)
        first = reference.rest[0] if reference.rest else None
        if names is None or not isinstance(first, str):
            continue
        if first not in names and not first.startswith("deploy_std") and first not in _OWN:
            message = f'the configuration has no output "{first}"'
            yield Problem(message, reference.path)


_OWN = ("deploy_status_code", "deploy_statuses", "deploy_status_codes", "show")


@rule(
    Group.CORRECTNESS,
    "A configuration of scripts does not start with a shebang.",
    level=Level.STRICT,
    why="The agent runs it as a program. Without #! its interpreter is not defined.",
    remedy="Start it with #!/bin/sh or another interpreter.",
    bad="""
        resources:
          config:
            type: OS::Heat::SoftwareConfig
            properties:
              group: script
              config: |  # here
                apt-get update
          deployment:
            type: OS::Heat::SoftwareDeployment
            properties: {config: {get_resource: config}, server: web}
        """,
    good="""
        resources:
          config:
            type: OS::Heat::SoftwareConfig
            properties:
              group: script
              config: |
                #!/bin/sh
                apt-get update
          deployment:
            type: OS::Heat::SoftwareDeployment
            properties: {config: {get_resource: config}, server: web}
        """,
)
def config_without_shebang(view: TemplateView) -> Problems:
    """Yield literal scripts of several lines without a shebang."""
    for config in view.of_type("OS::Heat::SoftwareConfig"):
        text = config.properties.get("config")
        is_script = view.constant(config.properties.get("group")) == "script"
        if is_script and isinstance(text, str) and "\n" in text and not text.startswith("#!"):
            yield Problem("the script has no #! line", config.at("config"))


@rule(
    Group.CORRECTNESS,
    "Two wait conditions use one handle.",
    why="Each signal counts for both, so that one of them does not wait for its own server.",
    remedy="Give each wait condition a handle of its own.",
    bad="""
        resources:
          handle: {type: OS::Heat::WaitConditionHandle}
          web:
            type: OS::Heat::WaitCondition
            properties: {handle: {get_resource: handle}, timeout: 600}
          db:
            type: OS::Heat::WaitCondition
            properties: {handle: {get_resource: handle}, timeout: 600}  # here
        outputs:
          command: {value: {get_attr: [handle, curl_cli]}}
        """,
    good="""
        resources:
          handle: {type: OS::Heat::WaitConditionHandle}
          both:
            type: OS::Heat::WaitCondition
            properties: {handle: {get_resource: handle}, timeout: 600, count: 2}
        outputs:
          command: {value: {get_attr: [handle, curl_cli]}}
        """,
)
def shared_handle(view: TemplateView) -> Problems:
    """Yield wait conditions whose handle an earlier one has."""
    seen: dict[str, str] = {}
    for wait in view.of_type(*_WAITS):
        handle = view.resource_in(wait.properties.get("handle"))
        if handle is None or "condition" in wait.body:
            continue
        first = seen.setdefault(handle, wait.name)
        if first != wait.name:
            yield Problem(f'"{first}" uses the handle, too', wait.at("handle"))


@rule(
    Group.RELIABILITY,
    "A wait condition waits longer than a stack may take by default.",
    level=Level.STRICT,
    why="""A create or update has 60 minutes unless its user gives a timeout. The stack fails first
        then, without the reason that the wait condition would give.""",
    remedy="Lower the timeout, or note in the description that stacks need a longer one.",
    bad="""
        resources:
          handle: {type: OS::Heat::WaitConditionHandle}
          ready:
            type: OS::Heat::WaitCondition
            properties: {handle: {get_resource: handle}, timeout: 7200}  # here
        outputs:
          command: {value: {get_attr: [handle, curl_cli]}}
        """,
    good="""
        resources:
          handle: {type: OS::Heat::WaitConditionHandle}
          ready:
            type: OS::Heat::WaitCondition
            properties: {handle: {get_resource: handle}, timeout: 1800}
        outputs:
          command: {value: {get_attr: [handle, curl_cli]}}
        """,
)
def wait_above_stack_timeout(
    view: TemplateView, *, seconds: int = _STACK_TIMEOUT_SECONDS
) -> Problems:
    """Yield timeouts of wait conditions above that of stacks."""
    for kind, key in (
        *((each, "timeout") for each in _WAITS),
        ("AWS::CloudFormation::WaitCondition", "Timeout"),
    ):
        for wait in view.of_type(kind):
            timeout = as_number(view.constant(wait.properties.get(key)))
            if timeout is not None and timeout >= seconds:
                yield Problem(f"a stack may take {seconds} s by default", wait.at(key))


@rule(
    Group.CORRECTNESS,
    "A wait condition expects another number of signals than its group sends.",
    level=Level.STRICT,
    why="""With a lower count the stack is complete before all members are ready; with a higher one
        it waits until it fails.""",
    remedy="Make count the size of the group.",
    bad="""
        resources:
          handle: {type: OS::Heat::WaitConditionHandle}
          ready:
            type: OS::Heat::WaitCondition
            properties: {handle: {get_resource: handle}, timeout: 600, count: 1}  # here
          servers:
            type: OS::Heat::ResourceGroup
            update_policy: {rolling_update: {max_batch_size: 1}}
            properties:
              count: 3
              resource_def:
                type: OS::Heat::Value
                properties: {value: {get_attr: [handle, curl_cli]}}
        """,
    good="""
        resources:
          handle: {type: OS::Heat::WaitConditionHandle}
          ready:
            type: OS::Heat::WaitCondition
            properties: {handle: {get_resource: handle}, timeout: 600, count: 3}
          servers:
            type: OS::Heat::ResourceGroup
            update_policy: {rolling_update: {max_batch_size: 1}}
            properties:
              count: 3
              resource_def:
                type: OS::Heat::Value
                properties: {value: {get_attr: [handle, curl_cli]}}
        """,
)
def wait_count_mismatch(view: TemplateView) -> Problems:
    """Yield counts that differ from the constant size of the only group with the handle."""
    for wait in view.of_type("OS::Heat::WaitCondition"):
        handle = view.resource_in(wait.properties.get("handle"))
        users = {
            str(each.path[1])
            for each in view.resource_references
            if each.name == handle and each.path[1] != wait.name
        }
        group = view.by_name.get(next(iter(users))) if len(users) == 1 else None
        if group is None or group.type != "OS::Heat::ResourceGroup":
            continue
        size = as_number(view.constant(group.properties.get("count")))
        count = as_number(view.constant(wait.properties.get("count", 1)))
        if size is not None and count is not None and size != count:
            path = wait.at("count") if wait.has("count") else wait.path
            yield Problem(f'"{group.name}" has {size} members, and {count} signals', path)
