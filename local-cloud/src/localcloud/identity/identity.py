"""The parts of the identity service."""

from msgspec import Struct

from localcloud.core.clock import Clock
from localcloud.core.settings import Settings
from localcloud.core.store import Store
from localcloud.identity.model.assignments import Assignments
from localcloud.identity.model.directory import Directory
from localcloud.identity.model.removal import Removal
from localcloud.identity.tokens.access import AccessControl
from localcloud.identity.tokens.attempts import Attempts
from localcloud.identity.tokens.authentication import Authentication
from localcloud.identity.tokens.tokens import Tokens, TokenSeal, token_key


class Identity(Struct, frozen=True):
    """The parts that requests of the identity API use."""

    directory: Directory
    assignments: Assignments
    tokens: Tokens
    control: AccessControl
    authentication: Authentication
    removal: Removal


def identity_of(store: Store, clock: Clock, settings: Settings) -> Identity:
    """Return the identity service of a store; its token key is created on first use."""
    directory = Directory(store, clock, settings)
    assignments = Assignments(directory)
    tokens = Tokens(directory, TokenSeal(token_key(settings.cloud_dir / "token.key")))
    control = AccessControl(directory, assignments, tokens)
    return Identity(
        directory,
        assignments,
        tokens,
        control,
        Authentication(directory, assignments, tokens, control, Attempts(clock)),
        Removal(directory),
    )
