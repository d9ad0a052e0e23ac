"""The examples: in the package if it was built, otherwise in the checkout."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

_NAME = "examples"


def examples_directory() -> Path:
    """Return the directory of the examples, which is named ``examples``."""
    package = Path(str(files("stoker")))
    inside = package / _NAME
    return inside if inside.is_dir() else package.parents[1] / _NAME


def installed_example(path: Path) -> Path | None:
    """Return the example that a relative path means, as ``examples/web-app.yaml`` does."""
    if path.is_absolute() or path.parts[:1] != (_NAME,):
        return None
    example = examples_directory().parent / path
    return example if example.is_file() else None
