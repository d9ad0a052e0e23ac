"""Rules about groups of resources, scaling and alarms."""

from __future__ import annotations

from typing import Any

from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, Severity, rule
from stoker.cli.authoring.lint.scripts import placeholders
from stoker.cli.authoring.lint.views import Resource, TemplateView, as_number

_SCALED = "OS::Heat::AutoScalingGroup"
_POLICY = "OS::Heat::ScalingPolicy"


@rule(
    Group.RELIABILITY,
    "An update replaces all members of a group together.",
    level=Level.STRICT,
    why="Without batches, every member is replaced at the same time, and the service stops.",
    remedy="Write rolling_updates, or update_policy with rolling_update for a resource group.",
    bad="""
        resources:
          servers:  # here
            type: OS::Heat::ResourceGroup
            properties:
              count: 3
              resource_def: {type: OS::Heat::RandomString}
        """,
    good="""
        resources:
          servers:
            type: OS::Heat::ResourceGroup
            update_policy: {rolling_update: {max_batch_size: 1, min_in_service: 2}}
            properties:
              count: 3
              resource_def: {type: OS::Heat::RandomString}
        """,
)
def group_without_batches(view: TemplateView) -> Problems:
    """Yield groups of several members without rolling updates."""
    for group in view.of_type("OS::Heat::ResourceGroup", "AWS::AutoScaling::AutoScalingGroup"):
        is_small = as_number(view.constant(group.properties.get("count"))) in (0, 1)
        if view.dialect.update_policy not in group.body and not is_small:
            yield Problem("an update replaces all members together", group.path)
    for group in view.of_type(_SCALED):
        if not group.has("rolling_updates"):
            yield Problem("an update replaces all members together", group.path)


def _sizes(view: TemplateView, group: Resource) -> tuple[int | None, int | None]:
    keys = ("min_size", "max_size") if group.type == _SCALED else ("MinSize", "MaxSize")
    low, high = (as_number(view.constant(group.properties.get(key))) for key in keys)
    return low, high


@rule(
    Group.CORRECTNESS,
    "A scaling policy belongs to a group that cannot change its size.",
    why="The smallest and the largest size are equal, so the policy never has an effect.",
    remedy="Raise max_size, or remove the policy.",
    bad="""
        resources:
          group:
            type: OS::Heat::AutoScalingGroup
            properties:
              min_size: 2
              max_size: 2  # here
              resource: {type: OS::Heat::RandomString}
          grow:
            type: OS::Heat::ScalingPolicy
            properties:
              auto_scaling_group_id: {get_resource: group}
              adjustment_type: change_in_capacity
              scaling_adjustment: 1
              cooldown: 60
        outputs:
          grow: {value: {get_attr: [grow, signal_url]}}
        """,
    good="""
        resources:
          group:
            type: OS::Heat::AutoScalingGroup
            properties:
              min_size: 2
              max_size: 5
              resource: {type: OS::Heat::RandomString}
          grow:
            type: OS::Heat::ScalingPolicy
            properties:
              auto_scaling_group_id: {get_resource: group}
              adjustment_type: change_in_capacity
              scaling_adjustment: 1
              cooldown: 60
        outputs:
          grow: {value: {get_attr: [grow, signal_url]}}
        """,
)
def scaling_without_room(view: TemplateView) -> Problems:
    """Yield groups with policies whose bounds are equal."""
    scaled = _scaled_groups(view)
    for group in view.of_type(_SCALED, "AWS::AutoScaling::AutoScalingGroup"):
        low, high = _sizes(view, group)
        if group.name in scaled and low is not None and low == high:
            key = "max_size" if group.type == _SCALED else "MaxSize"
            yield Problem(f"the group always has {low} members", group.at(key))


def _scaled_groups(view: TemplateView) -> dict[str, list[Resource]]:
    """Return the scaling policies of each group of the template."""
    found: dict[str, list[Resource]] = {}
    keys = {
        _POLICY: "auto_scaling_group_id",
        "AWS::AutoScaling::ScalingPolicy": "AutoScalingGroupName",
    }
    for kind, key in keys.items():
        for policy in view.of_type(kind):
            name = view.resource_in(policy.properties.get(key))
            if name is not None:
                found.setdefault(name, []).append(policy)
    return found


@rule(
    Group.COST,
    "A group grows and never shrinks.",
    level=Level.STRICT,
    why="It has policies that add members and none that removes them, so a peak is paid forever.",
    remedy="Add a policy with a negative adjustment, and an alarm that triggers it.",
    bad="""
        resources:
          group:
            type: OS::Heat::AutoScalingGroup
            properties:
              min_size: 1
              max_size: 5
              rolling_updates: {max_batch_size: 1}
              resource: {type: OS::Heat::RandomString}
          grow:
            type: OS::Heat::ScalingPolicy
            properties:
              auto_scaling_group_id: {get_resource: group}  # here
              adjustment_type: change_in_capacity
              scaling_adjustment: 1
              cooldown: 60
        outputs:
          grow: {value: {get_attr: [grow, signal_url]}}
        """,
    good="""
        resources:
          group:
            type: OS::Heat::AutoScalingGroup
            properties:
              min_size: 1
              max_size: 5
              rolling_updates: {max_batch_size: 1}
              resource: {type: OS::Heat::RandomString}
          size:
            type: OS::Heat::ScalingPolicy
            properties:
              auto_scaling_group_id: {get_resource: group}
              adjustment_type: exact_capacity
              scaling_adjustment: 1
              cooldown: 60
        outputs:
          size: {value: {get_attr: [size, signal_url]}}
        """,
)
def scaling_without_shrinking(view: TemplateView) -> Problems:
    """Yield the first policy of groups whose policies all add members."""
    for policies in _scaled_groups(view).values():
        changes = [
            as_number(view.constant(each.properties.get("scaling_adjustment"))) for each in policies
        ]
        kinds = {str(view.constant(each.properties.get("adjustment_type"))) for each in policies}
        is_relative = kinds <= {"change_in_capacity", "percent_change_in_capacity"}
        if is_relative and all(change is not None and change > 0 for change in changes):
            yield Problem("no policy removes members", policies[0].at("auto_scaling_group_id"))


@rule(
    Group.RELIABILITY,
    "A scaling policy has no cooldown.",
    level=Level.STRICT,
    why="""Alarms repeat while new members start. Without a cooldown, the group grows to its limit
        before the first new member has an effect.""",
    remedy="Set a cooldown of the time that a member needs to start.",
    bad="""
        resources:
          grow:  # here
            type: OS::Heat::ScalingPolicy
            properties:
              auto_scaling_group_id: web
              adjustment_type: change_in_capacity
              scaling_adjustment: 1
        outputs:
          grow: {value: {get_attr: [grow, signal_url]}}
        """,
    good="""
        resources:
          grow:
            type: OS::Heat::ScalingPolicy
            properties:
              auto_scaling_group_id: web
              adjustment_type: change_in_capacity
              scaling_adjustment: 1
              cooldown: 120
        outputs:
          grow: {value: {get_attr: [grow, signal_url]}}
        """,
)
def policy_without_cooldown(view: TemplateView) -> Problems:
    """Yield policies without a cooldown of their own or of their group."""
    with_cooldown = {each.name for each in view.of_type(_SCALED) if each.has("cooldown")}
    for policy in view.of_type(_POLICY):
        group = view.resource_in(policy.properties.get("auto_scaling_group_id"))
        if not policy.has("cooldown") and group not in with_cooldown:
            yield Problem(f'the policy "{policy.name}" has no cooldown', policy.path)


@rule(
    Group.CORRECTNESS,
    "A scaling policy changes nothing.",
    why="An adjustment of 0 is only useful for an exact capacity.",
    remedy="Give the number of members to add, or a negative one to remove.",
    bad="""
        resources:
          grow:
            type: OS::Heat::ScalingPolicy
            properties:
              auto_scaling_group_id: web
              adjustment_type: change_in_capacity
              scaling_adjustment: 0  # here
        outputs:
          grow: {value: {get_attr: [grow, signal_url]}}
        """,
    good="""
        resources:
          grow:
            type: OS::Heat::ScalingPolicy
            properties:
              auto_scaling_group_id: web
              adjustment_type: change_in_capacity
              scaling_adjustment: 1
        outputs:
          grow: {value: {get_attr: [grow, signal_url]}}
        """,
)
def empty_adjustment(view: TemplateView) -> Problems:
    """Yield relative adjustments of 0."""
    for policy in view.of_type(_POLICY):
        change = as_number(view.constant(policy.properties.get("scaling_adjustment")))
        kind = view.constant(policy.properties.get("adjustment_type"))
        if change == 0 and kind in ("change_in_capacity", "percent_change_in_capacity"):
            yield Problem("the policy changes nothing", policy.at("scaling_adjustment"))


@rule(
    Group.CORRECTNESS,
    "An alarm does nothing.",
    why="It has no action for any of its states, so nobody notices it.",
    remedy="Set alarm_actions, as to the signal_url of a scaling policy.",
    bad="""
        resources:
          busy:  # here
            type: OS::Aodh::GnocchiAggregationByResourcesAlarm
            properties:
              metric: cpu
              resource_type: instance
              query: '{"=": {"server_group": "web"}}'
              aggregation_method: mean
              threshold: 80
        """,
    good="""
        resources:
          busy:
            type: OS::Aodh::GnocchiAggregationByResourcesAlarm
            properties:
              metric: cpu
              resource_type: instance
              query: '{"=": {"server_group": "web"}}'
              aggregation_method: mean
              threshold: 80
              alarm_actions: ["https://hooks.example.org/busy"]
        """,
)
def alarm_without_actions(view: TemplateView) -> Problems:
    """Yield alarms without actions and queues."""
    for alarm in view.resources:
        is_alarm = alarm.type.startswith("OS::Aodh::") or alarm.type in _AWS_ALARMS
        is_alarm = is_alarm and alarm.type != _ACTING
        if is_alarm and not any(alarm.properties.get(key) for key in _ACTIONS):
            yield Problem(f'the alarm "{alarm.name}" has no actions', alarm.path)


_ACTING = "OS::Aodh::LBMemberHealthAlarm"  # it repairs members without other actions
_AWS_ALARMS = ("AWS::CloudWatch::Alarm", "OS::Heat::CWLiteAlarm")
_ACTIONS = (
    "alarm_actions", "alarm_queues", "insufficient_data_actions", "insufficient_data_queues",
    "ok_actions", "ok_queues", "AlarmActions", "InsufficientDataActions", "OKActions",
)  # fmt: skip


@rule(
    Group.RELIABILITY,
    "Members in service during an update are as many as the group has.",
    level=Level.STRICT,
    why="""No member can be replaced without going below the minimum, so the group has to grow
        for each update, or refuses it.""",
    remedy="Set min_in_service below the size of the group.",
    bad="""
        resources:
          group:
            type: OS::Heat::AutoScalingGroup
            properties:
              min_size: 1
              max_size: 2
              rolling_updates: {min_in_service: 2, max_batch_size: 1}  # here
              resource: {type: OS::Heat::RandomString}
        """,
    good="""
        resources:
          group:
            type: OS::Heat::AutoScalingGroup
            properties:
              min_size: 1
              max_size: 2
              rolling_updates: {min_in_service: 1, max_batch_size: 1}
              resource: {type: OS::Heat::RandomString}
        """,
)
def rolling_update_blocked(view: TemplateView) -> Problems:
    """Yield rolling updates that keep as many members in service as there are."""
    for group, size, policy, path in _rolling(view):
        least = as_number(view.constant(policy.get("min_in_service")))
        if least is not None and size is not None and least >= size > 0 and group.path:
            yield Problem(f"{least} of {size} members have to be in service", path)


def _rolling(view: TemplateView) -> list[tuple[Resource, int | None, Any, Any]]:
    """Return groups with their largest size, and their policy of rolling updates with its path."""
    found: list[tuple[Resource, int | None, Any, Any]] = []
    for group in view.of_type(_SCALED):
        policy = group.properties.get("rolling_updates")
        if isinstance(policy, dict):
            found.append((group, _sizes(view, group)[1], policy, group.at("rolling_updates")))
    for group in view.of_type("OS::Heat::ResourceGroup"):
        key = view.dialect.update_policy
        policies = group.body.get(key)
        policy = policies.get("rolling_update") if isinstance(policies, dict) else None
        if isinstance(policy, dict):
            size = as_number(view.constant(group.properties.get("count")))
            found.append((group, size, policy, (*group.path, key, "rolling_update")))
    return found


@rule(
    Group.CORRECTNESS,
    "All members of a group have the same fixed name.",
    severity=Severity.ERROR,
    why="""The second member fails, because names of these objects are unique in a project: key
        pairs, roles, projects, and others.""",
    remedy="Put %index% into the name, or leave it out.",
    bad="""
        resources:
          keys:
            type: OS::Heat::ResourceGroup
            properties:
              count: 2
              resource_def:
                type: OS::Nova::KeyPair
                properties: {name: operators}  # here
        """,
    good="""
        resources:
          keys:
            type: OS::Heat::ResourceGroup
            properties:
              count: 2
              resource_def:
                type: OS::Nova::KeyPair
                properties: {name: operators-%index%}
        """,
)
def same_name_in_group(view: TemplateView) -> Problems:
    """Yield literal names of members whose type has unique names."""
    for member in view.resources:
        name = member.properties.get("name")
        if not member.is_member or not isinstance(name, str) or member.type not in _UNIQUE:
            continue
        group = view.by_name[member.name]
        variable = str(group.properties.get("index_var", "%index%"))
        is_single = as_number(view.constant(group.properties.get("count", 2))) in (0, 1)
        if variable not in name and not is_single:
            yield Problem(f'all members have the name "{name}"', member.at("name"))


_UNIQUE = frozenset(
    (
        "OS::Nova::KeyPair", "OS::Nova::Flavor", "OS::Keystone::User", "OS::Keystone::Project",
        "OS::Keystone::Role", "OS::Keystone::Group", "OS::Keystone::Domain", "OS::Zaqar::Queue",
        "OS::Swift::Container", "OS::Designate::Zone", "OS::Cinder::VolumeType",
    )
)  # fmt: skip


@rule(
    Group.MAINTAINABILITY,
    "A group has one member.",
    level=Level.ALL,
    why="A group of a fixed size of one is only an additional nested stack.",
    remedy="Define the member as a resource.",
    bad="""
        resources:
          texts:
            type: OS::Heat::ResourceGroup
            properties:
              count: 1  # here
              resource_def: {type: OS::Heat::RandomString}
        """,
    good="""
        resources:
          text: {type: OS::Heat::RandomString}
        """,
)
def group_of_one(view: TemplateView) -> Problems:
    """Yield resource groups with a literal count of 1."""
    for group in view.of_type("OS::Heat::ResourceGroup"):
        if group.properties.get("count") == 1:
            yield Problem("the group has one member", group.at("count"))


@rule(
    Group.CORRECTNESS,
    "An index is used outside of a resource group.",
    why="""Only a resource group replaces %index%, in the definition of its members. It stays in the
        text elsewhere, also in an autoscaling group and in nested templates.""",
    remedy="Use it in resource_def, and pass it to nested templates as a property.",
    bad="""
        resources:
          group:
            type: OS::Heat::AutoScalingGroup
            properties:
              min_size: 1
              max_size: 3
              resource:
                type: OS::Heat::Value
                properties: {value: member-%index%}  # here
        """,
    good="""
        resources:
          group:
            type: OS::Heat::ResourceGroup
            properties:
              count: 3
              resource_def:
                type: OS::Heat::Value
                properties: {value: member-%index%}
        """,
)
def index_outside_group(view: TemplateView) -> Problems:
    """Yield texts with %index% in other resources than groups, unless str_replace fills it."""
    if "%index%" in placeholders(view):
        return
    for text in view.texts:
        if "%index%" not in text.value or text.path[0] != view.dialect.resources:
            continue
        owner = view.by_name.get(str(text.path[1]))
        if (
            owner is not None
            and owner.type.startswith(("OS::", "AWS::"))
            and owner.type not in _INDEXED
        ):
            yield Problem("nothing replaces %index% here", text.path)


_INDEXED = (
    "OS::Heat::ResourceGroup",
    "OS::Heat::SoftwareDeploymentGroup",
    "OS::Heat::ResourceChain",
)
