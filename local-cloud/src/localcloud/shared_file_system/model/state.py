"""Documents of shared file systems, and how they are found.

A request writes the ``task`` of a share or snapshot and is answered; the work follows in the
background. The task is in the store before the answer, so that a restart resumes it.
"""

from datetime import datetime, timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from uuid import uuid4

from localcloud.core.cloud import Cloud
from localcloud.core.store import Collection, Document
from localcloud.web.http import ApiError, NotFoundError, RequestContext

ZONE = "nova"
# The two back ends in the service's way of naming them: at the cloud's own address, and with
# servers of shares in networks of projects.
HOST, SERVERS_HOST = "localhost@local#local", "localhost@servers#servers"


class State:
    """The collections of the service."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        collection = cloud.store.collection
        self.shares = collection(
            "share.share", index=("project_id", "share_network_id", "share_server_id")
        )
        self.snapshots = collection("share.snapshot", index=("project_id", "share_id"))
        # Access rules of shares and of snapshots.
        self.rules = collection("share.rule", index=("owner_id",))
        self.types = collection("share.type", index=("name",))
        self.networks = collection("share.network", index=("project_id",))
        self.subnets = collection("share.subnet", index=("share_network_id",))
        self.security_services = collection("share.security_service", index=("project_id",))
        self.servers = collection("share.server", index=("share_network_id",))
        self.messages = collection("share.message", index=("project_id",))
        self.locks = collection("share.lock", index=("project_id", "resource_id"))
        self.transfers = collection("share.transfer", index=("project_id", "resource_id"))
        self.quotas = collection("share.quota")
        self.disabled = collection("share.disabled_service")

    def now(self) -> str:
        """Return the present time as documents hold it."""
        return self.cloud.now()

    def later(self, **span: float) -> str:
        """Return a time to come as documents hold it."""
        now = datetime.fromisoformat(self.now())
        return (now + timedelta(**span)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def directory(self, object_id: str) -> Path:
        """Return the directory with the content of a share or a snapshot."""
        return self.cloud.settings.cloud_dir / "shares" / object_id

    def address_of(self, share: Document) -> str:
        """Return the address from which a share, or a snapshot of it, is mounted."""
        server = self.servers.get(share["share_server_id"] or "")
        if server is not None:
            return str(server["address"])
        return str(ip_network(self.cloud.settings.floating_cidr)[1])

    def new_id(self) -> str:
        """Return an id for a new document."""
        return str(uuid4())

    def record(self, who: RequestContext, **fields: Any) -> Document:
        """Return a new document of the caller's project. It is not stored yet."""
        return {
            "id": self.new_id(),
            "project_id": who.require_project(),
            "user_id": who.user_id,
            "created_at": self.now(),
            "updated_at": None,
            **fields,
        }

    def change(self, collection: Collection, object_id: str, **changes: Any) -> Document | None:
        """Write changes to an object and return it; None where it is gone."""
        return collection.change(object_id, **changes, updated_at=self.now())


def owned(who: RequestContext, found: Document | None) -> bool:
    """Return whether something exists, for the caller as one of its project or an administrator."""
    return found is not None and (who.is_admin or found["project_id"] == who.project_id)


def found(collection: Collection, who: RequestContext, object_id: str, error: ApiError) -> Document:
    """Return an object of the caller's project; raises ``error``."""
    document = collection.get(object_id)
    if document is None or not owned(who, document):
        raise error
    return document


def missing(message: str = "The resource could not be found.") -> NotFoundError:
    """Return the error for an object that is missing or not visible."""
    return NotFoundError(message)
