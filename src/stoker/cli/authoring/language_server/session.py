"""The state of one editor: its documents, settings and models."""

from __future__ import annotations

from stoker.cli.authoring.language_server.checking import Checker
from stoker.cli.authoring.language_server.cloud import CloudChoices
from stoker.cli.authoring.language_server.documents import Documents
from stoker.cli.authoring.language_server.models import Models
from stoker.cli.authoring.language_server.settings import Settings
from stoker.cli.authoring.language_server.symbols.index import Index


class Session:
    """All that requests need."""

    def __init__(self, settings: Settings) -> None:
        self.documents = Documents()
        self.checker = Checker(self.documents)
        self.models = Models(self.documents, self.checker)
        self.cloud = CloudChoices()
        self.index = Index(self.documents, self.models)
        self.has_snippets = False  # whether the editor has places in inserted text
        self.can_create = False  # whether edits may create files
        self.configure(settings)

    @property
    def settings(self) -> Settings:
        """Return the settings."""
        return self.checker.settings

    def configure(self, settings: Settings) -> None:
        """Use other settings."""
        self.checker.settings = settings
        self.documents.can_fetch = settings.fetch_documents
        self.models.forget()

    def close(self) -> None:
        """End the helpers of checks and models."""
        self.checker.close()
        self.models.close()
        self.cloud.close()
