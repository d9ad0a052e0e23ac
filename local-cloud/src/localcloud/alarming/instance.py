"""The parts of the alarm service. They load with a request, or if the cloud has alarms."""

from localcloud.alarming.actions import Actions
from localcloud.alarming.events import AlarmEvents
from localcloud.alarming.jobs import Watch
from localcloud.alarming.model.state import State
from localcloud.core.cloud import Cloud
from localcloud.identity.service_trusts import Trusts


class Alarming:
    """Alarms; the one instance is ``cloud.one(Alarming)``."""

    def __init__(self, cloud: Cloud) -> None:
        self.state = State(cloud)
        self.trusts = Trusts(cloud)
        self.actions = Actions(self.state, self.trusts)
        self.watch = Watch(self.state, self.trusts, self.actions)
        self.events = AlarmEvents(self.state, self.watch)

    async def stop(self) -> None:
        """End the evaluation of alarms and the actions in flight."""
        await self.watch.stop()
        await self.actions.stop()


def load(cloud: Cloud) -> Alarming:
    """Return the parts, which evaluate alarms from now on."""
    alarming = cloud.one(Alarming)
    alarming.events.begin()
    alarming.watch.begin()
    return alarming
