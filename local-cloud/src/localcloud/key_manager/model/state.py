"""Documents of the key manager, and how they are found."""

from typing import Any
from uuid import UUID, uuid4

from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.web.http import NotFoundError, RequestContext

PREFIX = "/key-manager"


class State:
    """The collections of the key manager."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        store = cloud.store
        self.secrets = store.collection("key_manager.secret", index=("project_id",))
        self.containers = store.collection("key_manager.container", index=("project_id",))
        self.orders = store.collection("key_manager.order", index=("project_id",))
        self.quotas = store.collection("key_manager.quota")

    def now(self) -> str:
        """Return the present time as documents hold it: in UTC, without saying so."""
        return self.cloud.now().rstrip("Z")

    def ref(self, collection: str, object_id: str) -> str:
        """Return the URL of an object for clients."""
        return f"{self.cloud.settings.url}{PREFIX}/v1/{collection}/{object_id}"

    def new(self, who: RequestContext, **fields: Any) -> Document:
        """Return a new object of the caller's project. It is not stored yet."""
        return self.new_in(who.require_project(), who.user_id, **fields)

    def new_in(self, project_id: str, creator_id: str, **fields: Any) -> Document:
        """Return the same for who is not there any more."""
        now = self.now()
        return {
            "id": str(uuid4()),
            "project_id": project_id,
            "creator_id": creator_id,
            "status": "ACTIVE",
            "created": now,
            "updated": now,
            **fields,
        }

    def secret(self, secret_id: str) -> Document:
        """Return a secret that has not expired, of whichever project; raises NotFoundError."""
        if not is_uuid(secret_id):
            raise NotFoundError("Not Found. Provided secret id is invalid.")
        found = self.secrets.get(secret_id)
        if found is None or self.has_expired(found):
            raise NotFoundError("Secret not found.")
        return found

    def container(self, container_id: str) -> Document:
        """Return a container, of whichever project; raises NotFoundError."""
        if not is_uuid(container_id):
            raise NotFoundError("Not Found. Provided container id is invalid.")
        found = self.containers.get(container_id)
        if found is None:
            raise NotFoundError("Secrets container not found.")
        return found

    def has_expired(self, secret: Document) -> bool:
        """Return whether a secret has expired. No client sees expired secrets."""
        return secret["expiration"] is not None and secret["expiration"] <= self.now()


def is_uuid(text: str) -> bool:
    """Return whether a text can be the id of an object."""
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False
