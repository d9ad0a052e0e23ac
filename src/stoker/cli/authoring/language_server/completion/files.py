"""Candidates that name files, relative to the document."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from stoker.cli.authoring.language_server.completion.candidates import Candidate, Kind
from stoker.cli.authoring.language_server.completion.places import Place
from stoker.cli.authoring.language_server.model import Model

_MOST_ENTRIES = 300


def files_for(model: Model, place: Place, suffixes: tuple[str, ...]) -> Iterator[Candidate]:
    """Yield the files and directories at the path that is written so far."""
    written, slash, _ = place.word.rpartition("/")
    own = model.document.path
    folder = Path(own.parent, written)
    for name, is_directory in _entries(folder):
        label = f"{written}{slash}{name}"
        if is_directory:
            yield Candidate(f"{label}/", Kind.Folder, order="7", raw=True)
        elif folder / name != own and (not suffixes or name.endswith(suffixes)):
            yield Candidate(label, Kind.File, order="6", raw=True)


def _entries(folder: Path) -> list[tuple[str, bool]]:
    found = []
    try:
        with os.scandir(folder) as entries:
            for number, entry in enumerate(entries):
                if number >= _MOST_ENTRIES:
                    break
                if not entry.name.startswith("."):
                    found.append((entry.name, entry.is_dir()))
    except (OSError, ValueError):
        return []
    return sorted(found)
