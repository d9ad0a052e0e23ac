"""All requests of the DNS API."""

from starlette.routing import BaseRoute

from localcloud.dns.floating_ips import FloatingIPNames
from localcloud.dns.instance import Dns
from localcloud.dns.quotas import Quotas
from localcloud.dns.recordsets import RecordSets
from localcloud.dns.zones import Zones


def routes(dns: Dns) -> list[BaseRoute]:
    """Return the routes of all requests."""
    return [
        *Zones(dns.state, dns.publishing).routes(),
        *RecordSets(dns.state, dns.publishing).routes(),
        *FloatingIPNames(dns.state, dns.server).routes(),
        *Quotas(dns.state).routes(),
    ]
