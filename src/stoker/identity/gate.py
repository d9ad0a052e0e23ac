"""Everything that the service needs of Keystone, made from one set of options."""

from __future__ import annotations

from typing import Any

from stoker.identity.ec2 import SignatureVerifier
from stoker.identity.keystone import Keystone
from stoker.identity.policy import Policies
from stoker.identity.settings import IdentitySettings, settings_from
from stoker.identity.stack_users import StackUsers
from stoker.identity.tokens import Authenticator
from stoker.identity.trusts import TrustRecords, Trusts
from stoker.kernel.clock import Clock


class Gate:
    """Who may come in, who acts when nobody is there, and who may call back."""

    def __init__(self, conf: Any, clock: Clock, trusts: TrustRecords) -> None:
        self.settings: IdentitySettings = settings_from(conf)
        self._keystone = Keystone(self.settings, clock)
        self.policies = Policies(conf)
        self.trusts = Trusts(self._keystone, trusts)
        self.authenticate = Authenticator(
            self._keystone, clock, self.policies.is_admin, self.trusts.remember
        )
        self.verify_signature = SignatureVerifier(self._keystone, self.policies.is_admin)
        self.stack_users = StackUsers(self._keystone)

    def load(self) -> None:
        """Load what is slow to load, before the first request needs it. Blocks."""
        self._keystone.load()
        self.policies.load()

    def renew_trust(self, trust_id: str) -> str | None:
        """A new trust to replace one that is refused; called on worker threads."""
        return self._keystone.wait_for(self.trusts.renew(trust_id))

    async def open(self) -> None:
        """Let worker threads in, and read which trusts there are."""
        self._keystone.open()
        await self.trusts.load()

    async def close(self) -> None:
        """Close the connections to Keystone."""
        await self.authenticate.close()
        await self.trusts.close()
        await self._keystone.close()
