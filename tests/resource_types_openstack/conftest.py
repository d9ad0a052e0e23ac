from __future__ import annotations

import pytest
from tests.clouds.fake_cloud import FakeCloud
from tests.resource_types_openstack.trials import Trials


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Let trials run for each of their cases, and for each form in which one can be lost."""
    if metafunc.cls is None or not issubclass(metafunc.cls, Trials):
        return
    if "form" in metafunc.fixturenames:
        forms = [(case, given) for case in metafunc.cls.lost for given in case.forms()]
        names = [f"{case.type_name}-{number}" for number, (case, _) in enumerate(forms)]
        metafunc.parametrize("form", forms, ids=names)
    else:
        metafunc.parametrize("case", metafunc.cls.cases, ids=lambda case: case.type_name)


@pytest.fixture
def cloud() -> FakeCloud:
    return FakeCloud()
