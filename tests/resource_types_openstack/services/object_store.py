"""Objects, on the local cloud."""

from __future__ import annotations

from tests.resource_types_openstack.harness import Case

CASES = (
    Case(
        "OS::Swift::Container",
        {
            "PurgeOnDelete": True,
            "X-Container-Meta": {"colour": "blue"},
            "X-Container-Read": ".r:*",
            "X-Account-Meta": {"owner": "us"},
        },
        other={"X-Container-Write": "*:*", "name": "other"},
        unreported=frozenset({"PurgeOnDelete", "X-Account-Meta"}),
    ),
    Case(
        "AWS::S3::Bucket",
        {
            "AccessControl": "AuthenticatedRead",
            "Tags": [{"Key": "Colour", "Value": "blue"}],
            "WebsiteConfiguration": {"IndexDocument": "a.html", "ErrorDocument": "b.html"},
        },
        other={"AccessControl": "PublicReadWrite"},
    ),
)
