"""The recorded Heat, and its take-over into a data directory."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stoker.config.database import database_settings
from stoker.config.files import ConfigFiles
from stoker.config.loading import load
from stoker.engine.model.interfaces import Ports
from stoker.kernel.values import replace
from stoker.server.app import App
from stoker.server.roles import ProcessRole
from stoker.server.settings import server_settings
from stoker.store.opening import OpenStore
from stoker.takeover.heat.trees import Selection
from stoker.takeover.takeover import Takeover
from stoker.takeover.transfer import Progress
from tests.takeover.heat_dump import RECORDED, load_sqlite

if TYPE_CHECKING:
    from oslo_config.cfg import ConfigOpts

KEY = "767c3ed056cbaa3b9dfedb8c6f825bf0"
PROJECT = "448dede1781443e288c4a123e4240065"
_CONFIGURATION = f"""[DEFAULT]
auth_encryption_key = {KEY}
heat_metadata_server_url = http://127.0.0.1:9800
heat_waitcondition_server_url = http://127.0.0.1:9800/v1/waitcondition
region_name_for_services = RegionOne

[keystone_authtoken]
auth_url = http://127.0.0.1:9
username = heat
password = secret
project_name = service
"""


class NoCloud:
    """A cloud that accepts every name, and has no object to show."""

    def connection(self, _stack: Any) -> Any:
        raise RuntimeError("the recorded cloud is gone")

    def lookup(self, _stack: Any, lookups: Sequence[Any]) -> Sequence[str]:
        return [each.value for each in lookups]

    def check(self, _stack: Any, checks: Sequence[Any]) -> Sequence[str | None]:
        return [None] * len(checks)

    known_faults = check
    lacking = check

    def quotas(self, _stack: Any, _use: Any) -> Sequence[Any]:
        return []

    def inventory(self, _stack: Any) -> Sequence[Any]:
        return []

    choices = quotas


class RecordedApp(App):
    """The service without a cloud."""

    def _ports(self, *arguments: Any) -> Ports:
        return replace(super()._ports(*arguments), clouds=NoCloud())


class Estate:
    """A Heat's database, and the data directory that it is taken over into."""

    def __init__(self, directory: Path, dump: str = "heat.sql") -> None:
        """``dump`` is the name of a recorded database."""
        self.file = directory / "heat.db"
        self.url = load_sqlite(RECORDED / dump, self.file)
        self.configuration = directory / "heat.conf"
        self.configuration.write_text(_CONFIGURATION)
        self.data_dir = directory / "data"

    def options(self) -> ConfigOpts:
        """Return the options of Heat's configuration, with the data directory."""
        options = load(ConfigFiles((self.configuration,)))
        options.set_override("data_dir", str(self.data_dir))
        return options

    def takeover(self) -> Takeover:
        """Return the steps of the take-over."""
        options = self.options()
        return Takeover(options, database_settings(options))

    def transfer(self, **selection: Any) -> Progress:
        """Carry over new and changed stacks."""
        return self.takeover().transfer(self.url, Selection(**selection), lambda progress: None)

    def change(self, statement: str, *values: Any) -> None:
        """Change Heat's database."""
        with closing(sqlite3.connect(self.file)) as connection, connection:
            connection.execute(statement, values)

    def opened(self) -> OpenStore:
        """Open Stoker's database."""
        settings = database_settings(self.options())
        return OpenStore(settings.url, settings.data_dir, settings.key, settings.earlier_keys)

    @asynccontextmanager
    async def app(self) -> AsyncIterator[App]:
        """Build the service on the taken-over database."""
        async with AsyncExitStack() as stack:
            yield RecordedApp(server_settings(self.options()), ProcessRole.WHOLE, stack)
