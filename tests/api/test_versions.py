import pytest

from .conftest import ClientFor

V1 = {
    "versions": [
        {
            "id": "v1.0",
            "status": "CURRENT",
            "links": [{"rel": "self", "href": "http://api:8004/v1/"}],
        }
    ]
}


@pytest.mark.parametrize("path", ["/", "/versions", "/v2", "/v2/x", "/v1.1/x"])
async def test_version_list_needs_no_token(client_for: ClientFor, path: str) -> None:
    answer = await client_for(token=None).get(path)
    assert answer.status_code == 300
    assert answer.json() == V1


async def test_path_without_version_is_not_found_without_token(client_for: ClientFor) -> None:
    answer = await client_for(token=None).get("/foo")
    assert answer.status_code == 404
    assert answer.json()["error"]["type"] == "HTTPNotFound"


@pytest.mark.parametrize("path", ["/v" + "1" * 5000, "/v1." + "0" * 5000 + "1/x", "/v٣/x"])
async def test_unknown_version_of_any_length_is_404(client_for: ClientFor, path: str) -> None:
    assert (await client_for(token=None).get(path)).status_code in (300, 404)


async def test_unknown_version_in_media_type_is_404(
    client_for: ClientFor,
) -> None:
    accept = {"Accept": "application/vnd.openstack.orchestration-v" + "9" * 5000}
    assert (await client_for(token=None).get("/x", headers=accept)).status_code == 404


async def test_version_root_is_not_found(client_for: ClientFor) -> None:
    assert (await client_for().get("/v1/")).status_code == 404
    assert (await client_for().get("/v1")).status_code == 404
    assert (await client_for(token=None).get("/v1")).status_code == 401


@pytest.mark.parametrize("version", ["v1", "v1.0"])
async def test_both_spellings_of_the_version_are_stripped(
    client_for: ClientFor, base: str, version: str
) -> None:
    answer = await client_for().get(base.replace("v1", version) + "/stacks")
    assert answer.status_code == 200


async def test_media_type_selects_version_on_unversioned_path(
    client_for: ClientFor, base: str
) -> None:
    accept = {"Accept": "application/vnd.openstack.orchestration-v1.0"}
    client = client_for()
    assert (await client.get(base.removeprefix("/v1") + "/stacks", headers=accept)).is_success
    assert (await client.get("/", headers=accept)).status_code == 300


async def test_unknown_media_type_version_lists_versions(client_for: ClientFor) -> None:
    accept = {"Accept": "application/vnd.openstack.orchestration-v9.0"}
    assert (await client_for(token=None).get("/", headers=accept)).json() == V1


async def test_media_type_is_ignored_on_versioned_path(client_for: ClientFor, base: str) -> None:
    accept = {"Accept": "application/vnd.openstack.orchestration-v2.0"}
    assert (await client_for().get(base + "/stacks", headers=accept)).status_code == 200


async def test_healthcheck_needs_no_token(client_for: ClientFor) -> None:
    assert (await client_for(token=None).get("/healthcheck")).status_code == 200
