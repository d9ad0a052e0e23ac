"""All requests of the object storage API, gathered."""

from starlette.routing import Route

from localcloud.object_store.api.access import Access
from localcloud.object_store.api.accounts import Accounts
from localcloud.object_store.api.bulk_deletion import BulkDeletion
from localcloud.object_store.api.capabilities import capabilities
from localcloud.object_store.api.containers import Containers
from localcloud.object_store.api.copies import Copies
from localcloud.object_store.api.large_objects import LargeObjects
from localcloud.object_store.api.objects import Objects
from localcloud.object_store.api.requests import ACCOUNT, CONTAINER, OBJECT, Requests
from localcloud.object_store.service import ObjectStoreService
from localcloud.web.http import fixed, route


def routes(service: ObjectStoreService) -> list[Route]:
    """Return the routes of all requests."""
    records, files = service.records, service.files
    access = Access(records)
    containers = Containers(records, access)
    large = LargeObjects(records, access, files)
    bulk = BulkDeletion(records, access, files, containers)
    accounts = Accounts(records, access, bulk)
    copies = Copies(records, access, files, large)
    objects = Objects(records, access, files, large, bulk, copies)
    requests = Requests(service.cloud, records)
    return [
        route("GET", "/info", fixed(capabilities(files.largest))),
        requests.route("GET", ACCOUNT, accounts.show),
        requests.route("POST", ACCOUNT, accounts.change),
        requests.route("DELETE", ACCOUNT, accounts.delete),
        requests.route("GET", CONTAINER, containers.show),
        requests.route("PUT", CONTAINER, containers.create),
        requests.route("POST", CONTAINER, containers.change),
        requests.route("DELETE", CONTAINER, containers.delete),
        requests.route("GET", OBJECT, objects.show),
        requests.route("PUT", OBJECT, objects.create),
        requests.route("POST", OBJECT, objects.change),
        requests.route("DELETE", OBJECT, objects.delete),
        requests.route("COPY", OBJECT, copies.copy_to),
    ]
