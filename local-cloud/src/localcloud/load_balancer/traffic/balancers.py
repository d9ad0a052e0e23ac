"""The running load balancers. Each is brought to the state of its documents, one after another."""

import asyncio

from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.fabric.interface import Appliance, Appliances, ListenAccess
from localcloud.load_balancer.certificates import Certificates
from localcloud.load_balancer.model.kinds import LISTENER, LOAD_BALANCER, MEMBER, POOL, RULE, Kind
from localcloud.load_balancer.model.state import State, monitor_of, policies_of
from localcloud.load_balancer.traffic.checks import Monitor
from localcloud.load_balancer.traffic.decisions import Policy
from localcloud.load_balancer.traffic.listening import Listening
from localcloud.load_balancer.traffic.members import Doors
from localcloud.load_balancer.traffic.pools import Pool
from localcloud.load_balancer.traffic.requests import Route
from localcloud.load_balancer.traffic.statistics import Statistics
from localcloud.load_balancer.vips import Vips

_DELETED = "PENDING_DELETE"


class _Balancer:
    """One load balancer that is up."""

    def __init__(self, appliances: Appliances, balancer_id: str) -> None:
        self.doors = Doors(appliances, balancer_id)
        self.pools: dict[str, Pool] = {}
        self.listeners: dict[str, Listening] = {}
        self.monitors: dict[str, Monitor] = {}

    async def close(self) -> None:
        """End all traffic."""
        for monitor in self.monitors.values():
            await monitor.close()
        for listening in self.listeners.values():
            await listening.close()
        self.monitors.clear()
        self.listeners.clear()


class Balancers:
    """Carries the traffic of all load balancers."""

    def __init__(self, cloud: Cloud, state: State, vips: Vips, certificates: Certificates) -> None:
        self._certificates = certificates
        self._appliances = cloud.fabric.appliances
        self._state = state
        self._vips = vips
        self._up: dict[str, _Balancer] = {}
        self._counts: dict[str, Statistics] = {}

    async def apply(self, balancer_id: str) -> None:
        """Bring a load balancer to the state of its documents; raises FabricError, ApiError."""
        document = self._state.of(LOAD_BALANCER).get(balancer_id)
        if document is None or self._appliances is None:
            return
        ports = await self._vips.plugs(document)
        await self._appliances.ensure(Appliance(balancer_id, ports))
        balancer = self._up.get(balancer_id)
        if balancer is None:
            balancer = self._up[balancer_id] = _Balancer(self._appliances, balancer_id)
        # Pools first: listeners route to them as soon as they are open.
        await self._bring_pools(balancer)
        await self._bring_listeners(balancer, document)

    async def remove(self, balancer_id: str) -> None:
        """Take a load balancer away."""
        balancer = self._up.pop(balancer_id, None)
        if balancer is not None:
            await balancer.close()
        if self._appliances is not None:
            await self._appliances.remove(balancer_id)

    async def close(self) -> None:
        """End all traffic."""
        for balancer in self._up.values():
            await balancer.close()
        await asyncio.sleep(0)  # let closed listeners release their sockets

    async def _bring_pools(self, balancer: _Balancer) -> None:
        present: dict[str, Document] = self._present(POOL, balancer)
        for pool_id in set(balancer.pools) - set(present):
            del balancer.pools[pool_id]
        for pool_id, document in present.items():
            pool = balancer.pools.setdefault(pool_id, Pool(document))
            monitor = monitor_of(self._state, pool_id)
            if monitor is not None and (
                not monitor["admin_state_up"] or monitor["provisioning_status"] == _DELETED
            ):
                monitor = None
            members = self._present(MEMBER, balancer)
            inside = [each for each in members.values() if each["pool_id"] == pool_id]
            pool.update(document, inside, monitor is not None)
            await self._bring_monitor(balancer, pool, monitor)
        for pool_id in set(balancer.monitors) - set(present):
            await balancer.monitors.pop(pool_id).close()

    async def _bring_monitor(
        self, balancer: _Balancer, pool: Pool, document: Document | None
    ) -> None:
        pool_id = pool.document["id"]
        known = balancer.monitors.get(pool_id)
        if document is None:
            if known is not None:
                await balancer.monitors.pop(pool_id).close()
            return
        # Changes of the other fields must not restart the checks of all members.
        asked = {
            name: value
            for name, value in document.items()
            if name not in ("provisioning_status", "updated_at", "name", "tags")
        }
        if known is None:
            known = balancer.monitors[pool_id] = Monitor(balancer.doors, pool, asked)
        await known.update(asked)

    def _present(self, kind: Kind, balancer: _Balancer) -> dict[str, Document]:
        """Return the existing objects that are not being deleted, by ID."""
        every = self._state.of(kind).find(loadbalancer_id=balancer.doors.balancer_id)
        return {each["id"]: each for each in every if each["provisioning_status"] != _DELETED}

    async def _bring_listeners(self, balancer: _Balancer, document: Document) -> None:
        desired = {
            key: listener
            for key, listener in self._present(LISTENER, balancer).items()
            if listener["admin_state_up"] and document["admin_state_up"]
        }
        for listener_id in set(balancer.listeners) - set(desired):
            await balancer.listeners.pop(listener_id).close()
        for listener_id, listener in desired.items():
            counts = self._counts.setdefault(listener_id, Statistics())
            policies = tuple(self._policies(listener_id))
            ends_tls = listener["protocol"] == "TERMINATED_HTTPS"
            tls = self._certificates.context(listener) if ends_tls else None
            route = Route(listener, policies, balancer.pools, balancer.doors, counts, tls)
            known = balancer.listeners.get(listener_id)
            if known is not None:
                known.update(route)
                continue
            door = ListenAccess.RECEIVE if listener["protocol"] == "UDP" else ListenAccess.LISTEN
            opening = balancer.doors.appliances.open
            place = document["vip_address"], listener["protocol_port"]
            sock = await opening(document["id"], door, *place)
            balancer.listeners[listener_id] = Listening(route, sock)

    def _policies(self, listener_id: str) -> list[Policy]:
        found = []
        for policy in policies_of(self._state, listener_id):
            if policy["admin_state_up"] and policy["provisioning_status"] != _DELETED:
                rules = self._state.of(RULE).find(l7policy_id=policy["id"])
                active = [rule for rule in rules if rule["provisioning_status"] != _DELETED]
                found.append(Policy(policy, active))
        return found

    def statistics(self, listener_id: str) -> dict[str, int]:
        """Return the counters of a listener."""
        return (self._counts.get(listener_id) or Statistics()).shown()

    def operating(self, kind: Kind, document: Document) -> str:
        """Return the operating status of a load balancer or a part."""
        balancer = self._up.get(document.get("loadbalancer_id") or document["id"])
        if not document["admin_state_up"]:
            return "OFFLINE"
        if balancer is None:
            return "NO_MONITOR" if kind is MEMBER else "OFFLINE"
        pools = [pool.operating() for pool in balancer.pools.values()]
        if kind is LOAD_BALANCER:
            return next((status for status in ("ERROR", "DEGRADED") if status in pools), "ONLINE")
        if kind is LISTENER:
            listening = balancer.listeners.get(document["id"])
            return "OFFLINE" if listening is None else "DEGRADED" if listening.full else "ONLINE"
        if kind is POOL:
            pool = balancer.pools.get(document["id"])
            return "OFFLINE" if pool is None else pool.operating()
        if kind is MEMBER:
            pool = balancer.pools.get(document["pool_id"])
            member = None if pool is None else pool.members.get(document["id"])
            if pool is None or member is None:
                return "NO_MONITOR"
            return member.operating(pool.monitored)
        return "ONLINE"
