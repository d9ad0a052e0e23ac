"""All requests of the DNS API."""

from starlette.routing import BaseRoute

from localcloud.dns.api.floating_ips import FloatingIPNames
from localcloud.dns.api.quotas import Quotas
from localcloud.dns.api.recordsets import RecordSets
from localcloud.dns.api.zones import Zones
from localcloud.dns.instance import Dns


def routes(dns: Dns) -> list[BaseRoute]:
    """Return the routes of all requests."""
    return [
        *Zones(dns.state, dns.publishing).routes(),
        *RecordSets(dns.state, dns.publishing).routes(),
        *FloatingIPNames(dns.state, dns.server).routes(),
        *Quotas(dns.state).routes(),
    ]
