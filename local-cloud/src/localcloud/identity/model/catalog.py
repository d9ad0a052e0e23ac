"""The catalog: the URL of each service, for the bearer of a token."""

from typing import Any

from localcloud.identity.model.directory import Directory


def catalog(directory: Directory, user_id: str, project_id: str | None) -> list[dict[str, Any]]:
    """Return the catalog in the form of tokens.

    URLs that contain a project are left out if the token has none.
    """
    values = {"user_id": user_id}
    if project_id is not None:
        values |= {"project_id": project_id, "tenant_id": project_id}
    entries = []
    for service in directory.services.values():
        if not service["enabled"]:
            continue
        endpoints = [
            {
                "id": endpoint["id"],
                "interface": endpoint["interface"],
                "region_id": endpoint.get("region_id"),
                "region": endpoint.get("region_id"),
                "url": url,
            }
            for endpoint in directory.endpoints.find(service_id=service["id"])
            if endpoint["enabled"] and (url := substituted(endpoint["url"], values)) is not None
        ]
        if endpoints:
            entries.append(
                {
                    "id": service["id"],
                    "type": service["type"],
                    "name": service.get("name", ""),
                    "endpoints": endpoints,
                }
            )
    return entries


def substituted(template: str, values: dict[str, str]) -> str | None:
    """Return the URL with ``%(name)s`` and ``$(name)s`` filled in; None if one is unknown."""
    url = template.replace("$(", "%(")
    for name, value in values.items():
        url = url.replace(f"%({name})s", value)
    return None if "%(" in url else url
