"""A plugin: a resource type that ends the process of every engine that makes it."""

import os
import signal

from stoker.schema.resource_type import Call, Done, ManagedType, Outcome


class Poison(ManagedType):
    """Deadly to make, and harmless to delete."""

    type_name = "Test::Poison"

    def create(self, call: Call) -> Outcome:
        """End this process."""
        os.kill(os.getpid(), signal.SIGKILL)
        return Done()

    def delete(self, call: Call) -> Outcome:
        """There is nothing."""
        return Done()
