"""What the operator can choose about the REST API."""

from __future__ import annotations

from dataclasses import dataclass

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class RestSettings:
    """Options of the REST API; sizes in bytes, times in seconds."""

    max_json_body_size: int = MEBIBYTE
    max_template_size: int = 524288
    allow_template_url: bool = True
    template_url_timeout: float = 10.0
    behind_proxy: bool = False
    """Believe ``X-Forwarded-*`` headers."""
    identity_uri: str = "http://127.0.0.1:5000"
    """Where ``WWW-Authenticate`` sends clients."""
    hidden_tags: tuple[str, ...] = ()
    api_revision: str = "unknown"
    engine_revision: str = "unknown"
    debug: bool = False
    """Send tracebacks to clients."""
