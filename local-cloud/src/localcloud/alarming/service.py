"""The alarm service: its parts put together."""

from localcloud.alarming.actions import Actions
from localcloud.alarming.evaluation import Watch
from localcloud.alarming.events import AlarmEvents
from localcloud.alarming.state import State
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

    def begin(self) -> None:
        """Watch what there is."""
        self.events.begin()
        self.watch.begin()

    async def stop(self) -> None:
        """Watch no longer."""
        await self.watch.stop()
        await self.actions.stop()
