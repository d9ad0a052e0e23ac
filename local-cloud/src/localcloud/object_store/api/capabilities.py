"""Features and limits of the object store, which clients read at ``/info``."""

from typing import Any

from localcloud.object_store.api import bulk_deletion, large_objects, temporary_urls
from localcloud.object_store.api.containers import STORAGE_POLICY
from localcloud.object_store.model import constraints


def capabilities(largest: int) -> dict[str, Any]:
    """Return the features; ``largest`` is how many bytes an object may have."""
    return {
        "swift": {
            "version": "2.33.0",
            "account_autocreate": True,
            "account_listing_limit": constraints.LISTING_LIMIT,
            "container_listing_limit": constraints.LISTING_LIMIT,
            "max_account_name_length": 256,
            "max_container_name_length": constraints.CONTAINER_NAME_BYTES,
            "max_object_name_length": constraints.OBJECT_NAME_BYTES,
            "max_file_size": largest,
            "max_header_size": constraints.HEADER_BYTES,
            "max_meta_count": constraints.META_COUNT,
            "max_meta_name_length": constraints.META_NAME_BYTES,
            "max_meta_overall_size": constraints.META_BYTES,
            "max_meta_value_length": constraints.META_VALUE_BYTES,
            "policies": [{"name": STORAGE_POLICY, "aliases": STORAGE_POLICY, "default": True}],
            "strict_cors_mode": True,
            "allow_account_management": False,
        },
        "bulk_delete": {
            "max_deletes_per_request": bulk_deletion.MOST,
            "max_failed_deletes": bulk_deletion.MOST,
        },
        "container_quotas": {},
        "dlo": {"max_segments": constraints.LISTING_LIMIT},
        "slo": {
            "max_manifest_segments": large_objects.SEGMENTS,
            "max_manifest_size": large_objects.MANIFEST_BYTES,
            "min_segment_size": 1,
        },
        "versioned_writes": {"allowed_flags": ["x-versions-location"]},
        "tempurl": {
            "allowed_digests": list(temporary_urls.DIGESTS),
            "methods": list(temporary_urls.METHODS),
            "incoming_remove_headers": [],
            "incoming_allow_headers": [],
            "outgoing_remove_headers": ["x-object-meta-*"],
            "outgoing_allow_headers": ["x-object-meta-public-*"],
        },
    }
