"""Settings for the access to Keystone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from oslo_config.cfg import ConfigOpts


@dataclass(frozen=True, slots=True)
class User:
    """A user with password, and the scope of its tokens."""

    name: str
    password: str = field(repr=False)
    domain_name: str | None = "Default"
    domain_id: str | None = None  # takes precedence over the name
    project_name: str | None = None
    project_domain_name: str | None = "Default"
    project_domain_id: str | None = None
    scope_domain_id: str | None = None  # the domain of the tokens, in place of a project
    scope_domain_name: str | None = None


class IdentitySettings(Struct, frozen=True):
    """Options of this package; times in seconds."""

    auth_url: str
    service_user: User  # validates tokens; also the trustee unless another one is named
    trustee: User | None = None
    region: str | None = None
    interface: str = "public"
    verify: bool | str = True  # whether certificates are checked, or the file to check them against
    timeout: float = 30.0
    token_cache_time: float = 30.0  # seconds for which a revoked token may still be accepted
    token_cache_size: int = 4096
    passwords: bool = False  # accept ``X-Auth-User`` and ``X-Auth-Key`` in place of a token
    # Roles of services that may use expired tokens of users.
    service_token_roles: frozenset[str] = frozenset({"service"})
    # Refuse requests whose service token has none of these roles.
    service_token_roles_required: bool = False
    defers_by_password: bool = False  # stacks act with the password of the request, not by a trust
    delegated_roles: tuple[str, ...] = ()  # roles in trusts; empty: all roles of the user
    allow_redelegation: bool = False
    stack_user_role: str = "heat_stack_user"
    # Scoped to the domain of stack users; None: there are no stack users.
    stack_domain_admin: User | None = None
    # Root of the REST API (without version) as servers reach it; None: from the catalog.
    orchestration_url: str | None = None
    # Root of the CloudFormation API as servers reach it; None: from the catalog.
    metadata_url: str | None = None
    # Root of the CloudWatch API as servers reach it; None: from the catalog.
    watch_url: str | None = None
    # URL that ends in ``/waitcondition``, as servers reach it; None: from the catalog.
    waitcondition_url: str | None = None

    @property
    def users(self) -> list[User]:
        """Return the users as which the service logs in."""
        users = (self.service_user, self.trustee, self.stack_domain_admin)
        return [user for user in users if user is not None]

    @property
    def api_url(self) -> str:
        """Return the root of Keystone's version 3 API, without a trailing slash."""
        root = self.auth_url.rstrip("/")
        return root if root.endswith("/v3") else f"{root.removesuffix('/v2.0')}/v3"


def settings_from(conf: ConfigOpts) -> IdentitySettings:
    """Return the settings from the options (``oslo_config.cfg.ConfigOpts``).

    Raise ValueError if they have no Keystone URL or no service user.
    """
    section = conf.keystone_authtoken
    auth_url = section.auth_url or conf.clients_keystone.auth_uri or section.auth_uri
    if not auth_url or not section.username:
        raise ValueError(
            "[keystone_authtoken] needs auth_url, username and password: set them in the file of"
            ' --config-file; "stoker config sample" prints one'
        )
    return IdentitySettings(
        auth_url=auth_url,
        service_user=_user(section),
        trustee=_user(conf.trustee) if conf.trustee.username else None,
        region=conf.region_name_for_services or section.region_name,
        interface=_interface(conf),
        verify=_verify(conf),
        timeout=float(section.http_connect_timeout or 30),
        token_cache_time=float(section.token_cache_time),
        passwords=conf.paste_deploy.flavor == "standalone",
        service_token_roles=frozenset(section.service_token_roles),
        service_token_roles_required=section.service_token_roles_required,
        defers_by_password=conf.deferred_auth_method == "password",
        delegated_roles=tuple(conf.trusts_delegated_roles),
        allow_redelegation=conf.allow_trusts_redelegation,
        stack_user_role=conf.heat_stack_user_role,
        stack_domain_admin=_domain_admin(conf),
        orchestration_url=conf.clients_heat.url or None,
        metadata_url=conf.heat_metadata_server_url or None,
        watch_url=conf.heat_watch_server_url or None,
        waitcondition_url=conf.heat_waitcondition_server_url or None,
    )


def _domain(section: Any, kind: str) -> str | None:
    """Return the domain name in a section, or the default for sections without one."""
    name = getattr(section, f"{kind}_domain_name") or section.default_domain_name
    return str(name) if name else "Default"


def _verify(conf: ConfigOpts) -> bool | str:
    """Return how to verify certificates, from the first section that sets it.

    The sections are those for token validation, for the Keystone client, and for all clients.
    """
    sections = conf.keystone_authtoken, conf.clients_keystone, conf.clients
    if any(section.insecure for section in sections):
        return False
    first, *others = sections
    files = (first.cafile, *(section.ca_file for section in others))
    return next((str(file) for file in files if file), True)


def _user(section: Any) -> User:
    return User(
        name=section.username,
        password=section.password or "",
        domain_name=_domain(section, "user"),
        domain_id=section.user_domain_id or section.default_domain_id,
        project_name=section.project_name,
        project_domain_name=_domain(section, "project"),
        project_domain_id=section.project_domain_id or section.default_domain_id,
    )


def _domain_admin(conf: ConfigOpts) -> User | None:
    domain_id, domain_name = conf.stack_user_domain_id, conf.stack_user_domain_name
    if not conf.stack_domain_admin or not (domain_id or domain_name):
        return None
    return User(
        name=conf.stack_domain_admin,
        password=conf.stack_domain_admin_password or "",
        domain_name=domain_name,
        domain_id=domain_id,
        scope_domain_id=domain_id,
        scope_domain_name=domain_name,
    )


def _interface(conf: ConfigOpts) -> str:
    kind = conf.clients.endpoint_type or conf.keystone_authtoken.interface or "public"
    return str(kind).removesuffix("URL")
