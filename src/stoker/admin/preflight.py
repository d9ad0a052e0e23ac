"""Preconditions for the start of the service, checked without starting it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stoker.identity.settings import settings_from
from stoker.kernel.diagnostics import DiagnosticError
from stoker.messaging.settings import bus_settings
from stoker.server.global_environment import environment_in
from stoker.store.sql.databases import engine_for
from stoker.store.sql.foreign import require_supported

if TYPE_CHECKING:
    from oslo_config.cfg import ConfigOpts


def missing(conf: ConfigOpts) -> list[str]:
    """Return problems that prevent a start though each option is right."""
    faults = []
    try:
        settings_from(conf)
    except ValueError as error:
        faults.append(str(error))
    try:
        engine_for(require_supported(conf.database.connection or "sqlite://"))
    except ValueError as error:
        faults.append(str(error))
    try:
        environment_in(Path(conf.environment_dir))
    except (DiagnosticError, OSError) as error:
        faults.append(f"[DEFAULT] environment_dir: {error}")
    try:
        bus_settings(conf)
    except ValueError as error:
        faults.append(str(error))
    return faults
