"""The default policies, with Heat's names and defaults. A policy file overrides them.

Each rule is written as (name, check, older check). The older checks also permit a request unless
``[oslo_policy] enforce_new_defaults`` is on. An empty text permits everyone.
"""

from __future__ import annotations

from msgspec import Struct

_EVERYBODY = ""
_ALL = "rule:allow_everybody"
_NOBODY = "!"
_ADMIN = "rule:project_admin"
_NOT_STACK_USER = "rule:deny_stack_user"
_OWN = "project_id:%(project_id)s"
_READ = f"role:admin or (role:reader and {_OWN}) or (role:member and {_OWN})"
_WRITE = f"role:admin or (role:member and {_OWN})"
_STACK_USER = f" or (role:heat_stack_user and {_OWN})"


class Rule(Struct, frozen=True):
    """A rule with its current and its older check."""

    name: str
    check: str
    older: str | None = None


BASE = (
    Rule(
        "context_is_admin",
        "(role:admin and is_admin_project:True) or (role:admin and system_scope:all)",
    ),
    Rule("project_admin", "role:admin"),
    Rule("deny_stack_user", "not role:heat_stack_user"),
    Rule("deny_everybody", _NOBODY),
    Rule("allow_everybody", _EVERYBODY),
)

_READS = (
    "build_info:build_info", "events:index", "events:show", "resource:console_log",
    "resource:index", "resource:show", "resource:why", "software_configs:index",
    "software_configs:show", "software_deployments:index", "software_deployments:show",
    "stacks:detail", "stacks:drift", "stacks:environment", "stacks:existing_template",
    "stacks:files", "stacks:generate_template", "stacks:index", "stacks:list_choices",
    "stacks:list_operations", "stacks:list_outputs", "stacks:list_resource_types",
    "stacks:list_snapshots", "stacks:list_template_functions", "stacks:list_template_versions",
    "stacks:resource_schema", "stacks:search", "stacks:show", "stacks:show_output",
    "stacks:show_snapshot", "stacks:template", "stacks:why",
)  # fmt: skip
_WRITES = (
    "actions:cancel_update", "actions:cancel_without_rollback", "actions:check", "actions:resume",
    "actions:snapshot", "actions:suspend", "resource:mark_unhealthy", "software_configs:create",
    "software_configs:delete", "software_deployments:create", "software_deployments:delete",
    "software_deployments:update", "stacks:abandon", "stacks:create", "stacks:delete",
    "stacks:delete_snapshot", "stacks:export", "stacks:preview", "stacks:preview_delete",
    "stacks:preview_refactor", "stacks:preview_update", "stacks:preview_update_patch",
    "stacks:refactor", "stacks:restore_snapshot", "stacks:snapshot", "stacks:update",
    "stacks:update_no_change", "stacks:update_patch", "stacks:validate_template",
)  # fmt: skip
_CLOUDFORMATION_READS = (
    "DescribeAccountLimits", "DescribeChangeSet", "DescribeStackDriftDetectionStatus",
    "DescribeStackEvents", "DescribeStackRefactor", "DescribeStackResourceDrifts",
    "DescribeStackResources", "DescribeStacks", "DetectStackDrift", "DetectStackResourceDrift",
    "EstimateTemplateCost", "GetCallerIdentity", "GetStackPolicy", "GetTemplate",
    "GetTemplateSummary", "ListChangeSets", "ListExports", "ListImports",
    "ListStackRefactorActions", "ListStackRefactors", "ListStackResources", "ListStacks",
    "ValidateTemplate",
)  # fmt: skip
_CLOUDFORMATION_WRITES = (
    "CancelUpdateStack", "ContinueUpdateRollback", "CreateChangeSet", "CreateStack",
    "CreateStackRefactor", "DeleteChangeSet", "DeleteStack", "ExecuteChangeSet",
    "ExecuteStackRefactor", "RollbackStack", "SetStackPolicy",
    "UpdateStack", "UpdateTerminationProtection",
)  # fmt: skip
_CLOUDWATCH_READS = (
    "DescribeAlarmHistory", "DescribeAlarms", "DescribeAlarmsForMetric", "GetMetricStatistics",
    "ListMetrics",
)  # fmt: skip
_CLOUDWATCH_WRITES = (
    "DeleteAlarms", "DisableAlarmActions", "EnableAlarmActions", "PutMetricAlarm", "SetAlarmState",
)  # fmt: skip
_ADMIN_TYPES = (
    "OS::Blazar::Host", "OS::Cinder::EncryptedVolumeType", "OS::Cinder::QoSAssociation",
    "OS::Cinder::QoSSpecs", "OS::Cinder::Quota", "OS::Cinder::VolumeType", "OS::Keystone::Domain",
    "OS::Keystone::Endpoint", "OS::Keystone::Group", "OS::Keystone::GroupRoleAssignment",
    "OS::Keystone::Project", "OS::Keystone::Region", "OS::Keystone::Role", "OS::Keystone::Service",
    "OS::Keystone::User", "OS::Keystone::UserRoleAssignment", "OS::Manila::ShareType",
    "OS::Neutron::ProviderNet", "OS::Neutron::QoSBandwidthLimitRule",
    "OS::Neutron::QoSDscpMarkingRule", "OS::Neutron::QoSMinimumBandwidthRule",
    "OS::Neutron::QoSMinimumPacketRateRule", "OS::Neutron::QoSPolicy", "OS::Neutron::Quota",
    "OS::Neutron::Segment", "OS::Nova::Flavor", "OS::Nova::HostAggregate", "OS::Nova::Quota",
    "OS::Octavia::AvailabilityZone", "OS::Octavia::AvailabilityZoneProfile", "OS::Octavia::Flavor",
    "OS::Octavia::FlavorProfile", "OS::Octavia::Quota",
)  # fmt: skip

DEFAULTS: tuple[Rule, ...] = (
    *BASE,
    *(Rule(name, _READ, _NOT_STACK_USER) for name in _READS),
    *(Rule(name, _WRITE, _NOT_STACK_USER) for name in _WRITES),
    *(Rule(f"cloudformation:{n}", _READ, _NOT_STACK_USER) for n in _CLOUDFORMATION_READS),
    *(Rule(f"cloudformation:{n}", _WRITE, _NOT_STACK_USER) for n in _CLOUDFORMATION_WRITES),
    Rule("cloudformation:DescribeStackResource", _READ + _STACK_USER, _ALL),
    Rule("cloudformation:SignalResource", _WRITE + _STACK_USER, _ALL),
    *(Rule(f"cloudwatch:{n}", _READ, _NOT_STACK_USER) for n in _CLOUDWATCH_READS),
    *(Rule(f"cloudwatch:{n}", _WRITE, _NOT_STACK_USER) for n in _CLOUDWATCH_WRITES),
    Rule("cloudwatch:PutMetricData", _WRITE + _STACK_USER, _ALL),
    Rule("actions:action", _WRITE, _NOT_STACK_USER),
    Rule("resource:metadata", _READ + _STACK_USER, _ALL),
    Rule("resource:signal", _WRITE + _STACK_USER, _ALL),
    Rule("software_deployments:metadata", _READ + _STACK_USER, _ALL),
    Rule("stacks:lookup", _READ + _STACK_USER, _ALL),
    Rule("service:index", "role:admin"),
    Rule("stacks:global_index", _NOBODY),
    Rule("software_configs:global_index", _NOBODY),
    Rule("resource_types:OS::default", _EVERYBODY),
    *(Rule(f"resource_types:{name}", _ADMIN) for name in _ADMIN_TYPES),
)
# Rules that requests are checked against. The others are only referred to.
ASKED = tuple(rule for rule in DEFAULTS if rule not in BASE)
