"""Where resource types come from."""

import sys

import pytest

from stoker.resources.names import BUILT_IN, WITHDRAWN
from stoker.resources.registry import Registry
from stoker.schema.resource_type import Done, ManagedType

PLUGIN = """
from stoker.schema.resource_type import Done, ManagedType


class Mine(ManagedType):
    type_name = "{name}"
    description = "from a plugin"

    def create(self, call):
        return Done(physical_id="x")

    def delete(self, call):
        return Done()
"""


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_every_built_in_type_loads_under_its_name(name):
    type_ = Registry().find(name)
    assert type_ is not None
    assert type_.type_name == name
    assert type_.description


def test_a_type_is_made_once_and_unknown_names_are_none():
    registry = Registry()
    assert registry.find("OS::Heat::Value") is registry.find("OS::Heat::Value")
    assert registry.find("OS::No::Such") is None


def test_listing_names_imports_no_type():
    places = {"A::Type": "stoker.no.such.module:Type", "B::Type": "stoker.no.such:Type"}
    names = Registry(places).names()
    assert set(places) <= set(names)
    assert names == sorted(names)
    assert "stoker.no" not in sys.modules


def test_plugin_directories_add_types_and_go_before_built_in_ones(tmp_path):
    (tmp_path / "new.py").write_text(PLUGIN.format(name="My::Type"))
    (tmp_path / "over.py").write_text(PLUGIN.format(name="OS::Heat::Value"))
    registry = Registry(plugin_directories=[str(tmp_path)])
    assert "My::Type" in registry.names()
    assert registry.find("My::Type").description == "from a plugin"
    assert registry.find("OS::Heat::Value").description == "from a plugin"


def test_a_broken_plugin_does_not_stop_the_others(tmp_path, caplog):
    (tmp_path / "broken.py").write_text("raise RuntimeError('no')")
    (tmp_path / "good.py").write_text(PLUGIN.format(name="My::Type"))
    registry = Registry(plugin_directories=[str(tmp_path)])
    assert registry.find("My::Type") is not None
    assert "broken.py" in caplog.text


def test_withdrawn_types_are_not_offered():
    assert not WITHDRAWN & BUILT_IN.keys()


def test_plugins_that_derive_from_the_bare_resource_type_are_managed(tmp_path):
    text = PLUGIN.format(name="My::Type").replace("ManagedType", "ResourceType")
    (tmp_path / "earlier.py").write_text(text)
    type_ = Registry(plugin_directories=[str(tmp_path)]).find("My::Type")
    assert isinstance(type_, ManagedType)
    assert type_.create(None) == Done(physical_id="x")
