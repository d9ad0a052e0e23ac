"""OS::Nova::Quota: limits of compute resources for a project."""

from __future__ import annotations

from stoker.resources.shared.quotas import PROJECT, ProjectQuota, limit
from stoker.schema.support import deprecated, since


class Quota(ProjectQuota):
    """The compute quota of a project. For administrators only."""

    type_name = "OS::Nova::Quota"
    description = "Limits of compute resources for a project."
    service = "compute"
    support = since("8.0.0")
    path = "/os-quota-sets"
    key = "quota_set"

    properties = {
        "cores": limit("cores"),
        "fixed_ips": limit("fixed addresses"),
        "floating_ips": limit("floating IPs"),
        "injected_file_content_bytes": limit("bytes of each injected file", deprecated("14.0.0")),
        "injected_file_path_bytes": limit(
            "bytes of the path of an injected file", deprecated("14.0.0")
        ),
        "injected_files": limit("injected files of a server", deprecated("14.0.0")),
        "instances": limit("servers"),
        "key_pairs": limit("key pairs"),
        "metadata_items": limit("entries of the metadata of a server"),
        "project": PROJECT,
        "ram": limit("MiB of memory"),
        "security_group_rules": limit("rules of security groups"),
        "security_groups": limit("security groups"),
        "server_group_members": limit("members of server groups"),
        "server_groups": limit("server groups"),
    }
