"""The object storage API, as the application mounts it."""

import asyncio
import mimetypes

from localcloud.cloud import Cloud, Service
from localcloud.http import fixed, route
from localcloud.object_store.access import Access
from localcloud.object_store.accounts import Accounts
from localcloud.object_store.bulk_deletion import BulkDeletion
from localcloud.object_store.capabilities import capabilities
from localcloud.object_store.containers import Containers
from localcloud.object_store.copies import Copies
from localcloud.object_store.data import DataFiles
from localcloud.object_store.errors import swift_error
from localcloud.object_store.expiry import Expiry
from localcloud.object_store.large_objects import LargeObjects
from localcloud.object_store.objects import Objects
from localcloud.object_store.records import Records
from localcloud.object_store.requests import (
    ACCOUNT,
    CONTAINER,
    OBJECT,
    Requests,
    without_slash_of_containers,
)

_INFO = "/info"


def service(cloud: Cloud) -> Service:
    """Return the object storage API version 1."""
    records = cloud.one(Records)
    files = DataFiles(cloud.settings.cloud_dir / "objects", cloud.settings.object_bytes)
    access, expiry = Access(records), Expiry(cloud, records, files)
    containers = Containers(records, access)
    large = LargeObjects(records, access, files)
    bulk = BulkDeletion(records, access, files, containers)
    accounts = Accounts(records, access, bulk)
    copies = Copies(records, access, files, large)
    objects = Objects(records, access, files, large, bulk, copies)
    requests = Requests(cloud, records)

    async def start() -> None:
        mimetypes.init()
        named = {item["data"] for item in records.objects.values()}
        await asyncio.to_thread(files.start, named)
        expiry.start()

    async def stop() -> None:
        expiry.stop()

    return Service(
        type="object-store",
        name="swift",
        prefix="/v1",
        endpoint="/v1/AUTH_%(project_id)s",
        render=swift_error,
        public=lambda method, path: True,
        versions=(),
        routes=[
            route("GET", _INFO, fixed(capabilities(files.largest))),
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
        ],
        root_paths=(_INFO,),
        normalize=without_slash_of_containers,
        start=start,
        stop=stop,
    )
