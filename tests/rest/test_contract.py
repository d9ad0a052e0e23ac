"""Every address of Heat's API is there and answers as clients of Heat expect, over HTTP."""

from __future__ import annotations

import pytest

from stoker.api.rest import openapi
from tests.rest.contract import ROWS, Row
from tests.rest.scene import Scene

ALLOWED_TO_ADMINS = "/services"


def test_the_table_has_every_address_that_is_served() -> None:
    served = {
        (method.upper(), path.removeprefix("/{project_id}"))
        for path, item in openapi.document("")["paths"].items()
        for method in item.keys() - {"parameters"}
    }
    assert {(row.method, row.path) for row in ROWS} == served


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.method} {row.path}" for row in ROWS])
def test_an_address_answers_its_owner(scene: Scene, row: Row) -> None:
    person = scene.people["admin" if row.path == ALLOWED_TO_ADMINS else "member"]
    answer = row.ask(scene, person, scene.member.project)
    assert answer.status_code == row.status, answer.text
    assert answer.headers["x-openstack-request-id"].startswith("req-")
    if row.keys is not None:
        assert answer.json().keys() >= set(row.keys.split())
    elif row.status == 200:
        assert answer.json() is None
