"""The service that a command uses, from the command line and the environment."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from stoker.cli.client.credentials import Credentials, in_environment


class Target(Struct, frozen=True):
    """The options and variables that choose the service."""

    data_dir: Path
    url: str | None = None
    # The data directory was named on the command line. It takes precedence over ``OS_*``.
    own_data_dir: bool = False

    def foreign(self) -> Credentials | None:
        """Return the credentials of another cloud than that of the data directory, if any."""
        return None if self.own_data_dir else in_environment(os.environ)

    @property
    def serves_itself(self) -> bool:
        """Return whether the service runs on this machine, in the data directory."""
        return self.url is None and self.foreign() is None
