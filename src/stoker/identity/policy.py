"""Checks permissions, with oslo.policy and the rules of :mod:`stoker.identity.rules`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from stoker.engine.model.requests import Caller
from stoker.identity.rules import DEFAULTS
from stoker.kernel.lazy import LazyModule, defer

if TYPE_CHECKING:
    from oslo_config.cfg import ConfigOpts

oslo_policy = LazyModule("oslo_policy.policy")
oslo_policy_options = LazyModule("oslo_policy.opts")

_TYPE_PREFIX = "resource_types:"
_ANY_TYPE = "resource_types:OS::default"
_NAMES = frozenset(rule.name for rule in DEFAULTS)
_KEPT = 1.0  # seconds for which rules and decisions are cached


class Policies:
    """The rules of the operator's policy file over the defaults. Thread-safe.

    ``conf`` are the options (``oslo_config.cfg.ConfigOpts``) with the name of the file. A changed
    file is read again within a second.
    """

    def __init__(self, conf: ConfigOpts, clock: Callable[[], float] = time.monotonic) -> None:
        self._conf = conf
        self._clock = clock
        self._decisions: dict[tuple[Any, ...], bool] = {}
        self._since = clock()
        self._enforcer: Any = None
        self._lock = Lock()

    def load(self) -> None:
        """Import oslo.policy and read the rules now, so that the first request need not wait.

        This is the one place where the library is imported, by name: it takes about 0.15 s, and
        the service must answer before that.
        """
        if self._enforcer is not None:
            return
        with self._lock:
            if self._enforcer is None:
                self._enforcer = _make_enforcer(self._conf)

    def allows(self, rule: str, caller: Caller) -> bool:
        """Return whether a rule permits the caller. Types without a rule share one."""
        self.load()
        now = self._clock()
        if now - self._since > _KEPT:
            with self._lock:
                _read_rules(self._enforcer)
            self._decisions, self._since = {}, now
        known = rule in _NAMES or rule in self._enforcer.rules
        if rule.startswith(_TYPE_PREFIX) and not known:
            rule = _ANY_TYPE
        credentials = _credentials(caller)
        key = (rule, *credentials.values())
        decision = self._decisions.get(key)
        if decision is None:
            target = {"project_id": caller.project_id, "user_id": caller.user_id}
            credentials["roles"] = sorted(caller.roles)
            decision = bool(self._enforcer.enforce(rule, target, credentials))
            self._decisions[key] = decision
        return decision

    async def is_admin(self, credentials: Mapping[str, Any]) -> bool:
        """Return whether credentials, in the terms of policies, are those of an administrator."""
        if self._enforcer is None:
            await asyncio.to_thread(self.load)
        return bool(self._enforcer.enforce("context_is_admin", {}, dict(credentials)))


def _credentials(caller: Caller) -> dict[str, Any]:
    """Return the caller's attributes in the terms of policies."""
    return {
        "user_id": caller.user_id,
        "project_id": caller.project_id,
        "roles": caller.roles,
        "is_admin": caller.is_admin,
        "is_admin_project": True,
        "user_domain_id": caller.user_domain_id,
        "project_domain_id": caller.project_domain_id,
    }


def _make_enforcer(conf: ConfigOpts) -> Any:
    # oslo.policy needs it for debug messages; it compiles 400 expressions when it is imported.
    defer("oslo_utils.strutils")
    enforcer = oslo_policy.Enforcer(conf, _policy_file(conf))
    enforcer.suppress_deprecation_warnings = True
    enforcer.suppress_default_change_warnings = True
    for rule in DEFAULTS:
        older = None
        if rule.older is not None:
            older = oslo_policy.DeprecatedRule(
                rule.name,
                rule.older,
                deprecated_reason="The defaults tell readers from members.",
                deprecated_since="0.1",
            )
        default = oslo_policy.RuleDefault(rule.name, rule.check, deprecated_rule=older)
        enforcer.register_default(default)
    _read_rules(enforcer)
    return enforcer


def _policy_file(conf: ConfigOpts) -> str:
    """Return the name of the file. Older clouds have JSON files, which the library dropped."""
    oslo_policy_options.set_defaults(conf)
    named: str = conf.oslo_policy.policy_file
    in_json = str(Path(named).with_suffix(".json"))
    if conf.find_file(named) is None and conf.find_file(in_json) is not None:
        return in_json
    return named


def _read_rules(enforcer: Any) -> None:
    """Read changed files. The library itself would check all files at each decision (1 ms)."""
    enforcer.use_conf = True
    try:
        enforcer.load_rules()
    finally:
        enforcer.use_conf = False
