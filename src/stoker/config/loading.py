"""Reads options from files."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from oslo_config import cfg

from stoker.config.files import ConfigFiles
from stoker.config.options import GROUPS


def load(files: ConfigFiles | Sequence[Path] = ()) -> cfg.ConfigOpts:
    """The options (an ``oslo_config.cfg.ConfigOpts``) as the given files, in order, set them.

    Raises ``oslo_config.cfg.Error`` naming the file or the option that is wrong.
    """
    read = files if isinstance(files, ConfigFiles) else ConfigFiles(tuple(files))
    # the check of files reports old names with file and line
    logging.getLogger("oslo_config").setLevel(logging.ERROR)
    conf = cfg.ConfigOpts()
    for group, options in GROUPS.items():
        conf.register_opts(options, group=None if group == "DEFAULT" else group)
    conf(
        [],
        project="stoker",
        default_config_files=[str(file) for file in read.files],
        default_config_dirs=[str(directory) for directory in read.directories],
    )
    return conf


def read_all(conf: cfg.ConfigOpts) -> None:
    """Parse every option now: else they are parsed when they are read, in the midst of a request.

    Raises ``oslo_config.cfg.Error`` or ValueError.
    """
    for value in conf.values():
        if isinstance(value, Mapping):
            dict(value)


def is_set(conf: cfg.ConfigOpts, group: str, name: str) -> bool:
    """Return whether a file sets an option."""
    found = conf.get_location(name, None if group == "DEFAULT" else group)
    return found is not None and found.location is cfg.Locations.user
