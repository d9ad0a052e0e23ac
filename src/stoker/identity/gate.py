"""Builds everything that uses Keystone from one set of options."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from stoker.concurrency.background import Background
from stoker.engine.model.requests import Caller
from stoker.identity.backends import authentication
from stoker.identity.delegation.left_trusts import LeftTrusts
from stoker.identity.delegation.stack_users import StackUsers
from stoker.identity.delegation.trusts import TrustRecords, Trusts
from stoker.identity.delegation.user_passwords import UserPasswords
from stoker.identity.ec2 import SignatureVerifier
from stoker.identity.keystone import Called, Keystone
from stoker.identity.policy import Policies
from stoker.identity.settings import IdentitySettings, User
from stoker.identity.sign_in import KeystoneSignIns
from stoker.identity.tokens import Authenticator
from stoker.kernel.clock import Clock
from stoker.kernel.errors import RequestError
from stoker.kernel.values import replace

if TYPE_CHECKING:
    from oslo_config.cfg import ConfigOpts

FIRST_CHECK_SECONDS = 1.0  # after the start, when the first requests have been answered
CHECK_AGAIN_SECONDS = 15.0


class IdentityServices:
    """Authenticates requests, holds trusts for deferred work, and manages stack users."""

    def __init__(
        self,
        settings: IdentitySettings,
        options: ConfigOpts,
        clock: Clock,
        trusts: TrustRecords,
        called: Called,
        *,
        alone: bool = True,
    ) -> None:
        """``options`` are for oslo.policy and plug-ins; ``called`` counts the calls to Keystone.

        ``alone`` is a process that shares nothing.
        """
        self.settings = settings
        self._keystone = Keystone(self.settings, clock, called=called)
        self.policies = Policies(options)
        self.trusts = Trusts(self._keystone, trusts)
        self.left_trusts = LeftTrusts(self.trusts)
        self.deferred: Trusts | UserPasswords = self.trusts
        if self.settings.defers_by_password:
            self.deferred = UserPasswords(self._keystone, self.trusts)
        self._authenticator = Authenticator(self._keystone, clock, self.policies.is_admin)
        self.sign_ins = KeystoneSignIns(self._keystone, self._authenticator, self.policies.is_admin)
        self._authenticate = authentication(options, self._authenticator)
        self.verify_signature = SignatureVerifier(self._keystone, self.policies.is_admin)
        self.stack_users = StackUsers(self._keystone, alone=alone)
        self._first_check = Background(self._check_users)

    async def authenticate(
        self, headers: Mapping[str, str], project_id: str | None
    ) -> Caller | None:
        """Return the caller, or None if the request is not authenticated.

        Refuses (503) if the identity service does not answer.
        """
        caller = await self._authenticate(headers, project_id)
        if caller is not None:
            self.trusts.remember(caller)
            if self.settings.defers_by_password:
                return replace(caller, password=headers.get("x-auth-key"))
        return caller

    def load(self) -> None:
        """Load slow modules before the first request needs them. Blocks."""
        self._keystone.load()
        self.policies.load()

    def renew_trust(self, trust_id: str) -> str | None:
        """Return a new trust to replace one that is refused; called on worker threads."""
        return self._keystone.wait_for(self.trusts.renew(trust_id))

    def open(self) -> None:
        """Let worker threads in, and check in the background that Keystone accepts our users."""
        self._keystone.open()
        self._first_check.start()

    async def _check_users(self) -> None:
        """Log in with each configured user until all are accepted.

        So the log names a wrong password or URL before a request of a client fails because of it.
        """
        waiting = self.settings.users
        pause_seconds = FIRST_CHECK_SECONDS
        while waiting:
            await asyncio.sleep(pause_seconds)
            waiting = [user for user in waiting if not await self._accepts(user)]
            pause_seconds = CHECK_AGAIN_SECONDS

    async def _accepts(self, user: User) -> bool:
        try:
            await self._keystone.grant_of(user)
        except RequestError:
            return False  # the client has logged the reason
        return True

    async def close(self) -> None:
        """Close the connections to Keystone."""
        await self._first_check.close()
        await self._authenticator.close()
        await self.trusts.close()
        await self._keystone.close()
