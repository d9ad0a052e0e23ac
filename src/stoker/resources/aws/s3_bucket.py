"""AWS::S3::Bucket: a container of the object store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.resources.base import declare
from stoker.resources.shared.storage.object_containers import ObjectContainer
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call

_PAGES = {
    "IndexDocument": "X-Container-Meta-Web-Index",
    "ErrorDocument": "X-Container-Meta-Web-Error",
}


class S3Bucket(ObjectContainer):
    """A bucket of objects."""

    type_name = "AWS::S3::Bucket"
    description = "A container of the object store."

    properties = {
        "AccessControl": declare.choice(
            [
                "Private",
                "PublicRead",
                "PublicReadWrite",
                "AuthenticatedRead",
                "BucketOwnerRead",
                "BucketOwnerFullControl",
            ],
            "Predefined access rights to the objects.",
        ),
        "Tags": declare.records(
            "Tags of the bucket.",
            entries={
                "Key": declare.string("Name of the tag.", required=True),
                "Value": declare.string("Value of the tag.", required=True),
            },
        ),
        "WebsiteConfiguration": declare.mapping(
            "Pages, if the bucket is used as a web site.",
            entries={
                "ErrorDocument": declare.string("Page for missing objects."),
                "IndexDocument": declare.string("Page for the root of the web site."),
            },
        ),
    }
    attributes = {
        "DomainName": Attribute("Host of the object store.", Type.STRING),
        "WebsiteURL": Attribute("Address of the bucket.", Type.STRING),
        "show": declare.SHOW,
    }

    def headers(self, properties: Mapping[str, Any], call: Call) -> dict[str, str]:
        """Return the headers for access lists, pages and tags."""
        acl_headers = {}
        project = f"{call.stack.project_id}:*"
        match properties.get("AccessControl"):
            case "PublicRead":
                acl_headers = {"X-Container-Read": ".r:*"}
            case "PublicReadWrite":
                acl_headers = {"X-Container-Read": ".r:*", "X-Container-Write": "*:*"}
            case "AuthenticatedRead" | "BucketOwnerRead":
                acl_headers = {"X-Container-Read": project}
            case "BucketOwnerFullControl":
                acl_headers = {"X-Container-Read": project, "X-Container-Write": project}
        pages = properties.get("WebsiteConfiguration") or {}
        for name, header in _PAGES.items():
            if pages.get(name):
                acl_headers[header] = pages[name]
        for tag in properties.get("Tags") or ():
            acl_headers[f"X-Container-Meta-S3-Tag-{tag['Key']}"] = tag["Value"]
        return acl_headers
