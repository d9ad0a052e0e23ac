"""Settings of the operator for the REST API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from oslo_config.cfg import ConfigOpts

MEBIBYTE = 1024 * 1024


class RestSettings(Struct, frozen=True):
    """Options of the REST API; sizes in bytes, times in seconds."""

    max_json_body_size: int = MEBIBYTE
    max_signal_size: int = MEBIBYTE
    behind_proxy: bool = False  # trust ``X-Forwarded-*`` headers
    # Address of the identity service in ``WWW-Authenticate``.
    identity_uri: str = "http://127.0.0.1:5000"
    passwords: bool = False  # accept user names and passwords in place of tokens
    hidden_tags: tuple[str, ...] = ()  # stacks with one of these tags are listed on demand only
    cors_origins: tuple[str, ...] = ()  # web sites whose scripts may use the API
    revision: str = "unknown"
    debug: bool = False  # send tracebacks to clients
    abandons: bool = False  # stacks can be exported and abandoned
    adopts: bool = False  # stacks can be adopted
    converges: bool = False  # updates read the live objects unless the request says otherwise


def settings_from(conf: ConfigOpts) -> RestSettings:
    """Return the settings from options (``oslo_config.cfg.ConfigOpts``)."""
    auth = conf.keystone_authtoken
    identity_uri = auth.www_authenticate_uri or auth.auth_uri or auth.auth_url or ""
    return RestSettings(
        max_json_body_size=conf.max_json_body_size,
        max_signal_size=conf.max_signal_size,
        behind_proxy=conf.oslo_middleware.enable_proxy_headers_parsing,
        identity_uri=identity_uri,
        passwords=conf.paste_deploy.flavor == "standalone",
        hidden_tags=tuple(conf.hidden_stack_tags),
        cors_origins=tuple(conf.cors.allowed_origin),
        revision=conf.revision.heat_revision,
        debug=conf.debug,
        abandons=conf.enable_stack_abandon,
        adopts=conf.enable_stack_adopt,
        converges=conf.observe_on_update,
    )
