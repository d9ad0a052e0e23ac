"""Codes of ``stoker validate`` without documentation among the rules.

Settings and comments may name them, as all rules. ``tests/lint`` compares them with the sources.
"""

from __future__ import annotations

_NAMES = """
action-twice bad-adjustment bad-alias bad-arguments bad-character bad-condition
bad-creation-policy bad-deletion-policy bad-dimension bad-directive bad-duration bad-export
bad-interval bad-key bad-loop bad-merge bad-name bad-number bad-output bad-resource bad-rule
bad-section bad-server bad-shape bad-syntax bad-tag bad-target bad-type bad-value bad-version
both-names-given broken-rule circular-type conflicting-properties facade-mismatch
failed-condition ignored-constraint immutable-parameter invalid-association invalid-environment
invalid-environment-file invalid-event-sink invalid-l7-policy invalid-mapping invalid-order
invalid-parameter-value invalid-pool invalid-port invalid-resource-name invalid-role
invalid-router-interface invalid-secret invalid-section invalid-subnet-pool invalid-subscription
invalid-volume-type invalid-zone many-documents missing-parameter more-findings nested-too-deep
nested-too-large no-export no-items no-launch-configuration no-load-balancer no-macro no-reason
no-such-resource no-task-name no-value no-version not-a-map pseudo-parameter requires-in-direct
same-name same-port several-subnets too-deep too-large too-many-globs too-many-members
too-many-nodes too-many-sinks two-actions undeployable-type unfetched-file
unimplemented-property unknown-event-sink unknown-file unknown-merge-strategy unknown-name
unknown-pools unknown-tag unknown-word unreachable-file unsupported-deletion-policy
unsupported-update-policy withdrawn-type
"""
VALIDATION_CODES = frozenset(_NAMES.split())
