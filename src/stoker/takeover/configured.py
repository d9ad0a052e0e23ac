"""The builder of records, from the configuration of Heat."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stoker.resources.base.heat_catalog import WithDeclared
from stoker.resources.base.registry import Registry
from stoker.schema.helpers import Helpers
from stoker.server.global_environment import environment_in
from stoker.takeover.heat.decryption import Decryption
from stoker.takeover.records.evaluation import Evaluator
from stoker.takeover.records.trees import TreeBuilder

if TYPE_CHECKING:
    from oslo_config.cfg import ConfigOpts


def tree_builder(options: ConfigOpts, helpers: Helpers) -> TreeBuilder:
    """Return a builder with the keys, types and environment of a configuration."""
    domain = options.stack_user_domain_id
    keys = [options.auth_encryption_key, *(options.previous_auth_encryption_key or ())]
    evaluator = Evaluator(
        WithDeclared(Registry(plugin_directories=tuple(options.plugin_dirs))),
        environment_in(Path(options.environment_dir)),
        options.region_name_for_services,
        helpers,
    )
    return TreeBuilder(Decryption(*filter(None, keys)), evaluator, cfn_url_of(options), domain)


def cfn_url_of(options: ConfigOpts) -> str | None:
    """Return the root of Heat's CloudFormation API, as servers know it; None if not configured."""
    url = options.heat_waitcondition_server_url or options.heat_metadata_server_url
    if not url:
        return None
    root = str(url).rstrip("/").removesuffix("/waitcondition").rstrip("/")
    return root.removesuffix("/v1")
