"""The ``gnocchi`` client against a running cloud, which has no servers."""

from typing import Any

import pytest

gnocchi = pytest.importorskip("gnocchiclient.client", reason="gnocchiclient is not installed")
# The libraries warn of their own code; that is none of the cloud's business.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]


def test_the_client_makes_metrics_and_reads_them(demo: Any) -> None:
    client = gnocchi.Client("1", session=demo.session)
    made = client.resource.create(
        "generic", {"id": "oven", "metrics": {"heat": {"archive_policy_name": "high"}}}
    )
    measures = [{"timestamp": f"2026-01-01T00:00:0{n}", "value": n} for n in range(4)]
    client.metric.add_measures("heat", measures, resource_id=made["id"])
    found = client.metric.get_measures("heat", resource_id=made["id"], granularity=60)
    assert [value for _, _, value in found] == [1.5]
    assert client.resource.search(query=f"id = '{made['id']}'")[0]["id"] == made["id"]
    assert client.resource.list(limit=1)[0]["original_resource_id"] == "oven"
    aggregated = client.aggregates.fetch(
        "(aggregate max (metric heat max))", search={"=": {"id": made["id"]}}, granularity=60
    )
    assert aggregated["measures"]["aggregated"][0][2] == 3
    metric = client.metric.create(name="loose", archive_policy_name="low")
    assert metric["archive_policy"]["name"] == "low"
    assert {each["name"] for each in client.metric.list()} == {"heat", "loose"}
    names = {each["name"] for each in client.archive_policy.list()}
    assert "medium" in names
    client.metric.delete(metric["id"])
    client.resource.delete(made["id"])
    assert client.metric.list() == []
    with pytest.raises(gnocchi.exceptions.ResourceNotFound):
        client.resource.get("generic", made["id"])
