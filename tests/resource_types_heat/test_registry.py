"""Where resource types come from."""

import importlib
import pkgutil
import sys

import pytest

import stoker.resources
from stoker.resources.built_in import WITHDRAWN, built_in
from stoker.resources.registry import Registry
from stoker.schema.resource_type import Done, ManagedType, ResourceType

PLUGIN = """
from stoker.schema.resource_type import Done, ManagedType, ResourceType


class Mine(ManagedType):
    type_name = "{name}"
    description = "from a plugin"

    def create(self, call):
        return Done(physical_id="x")

    def delete(self, call):
        return Done()
"""


@pytest.mark.parametrize("name", sorted(built_in()))
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
    modules = {"A::Type": "stoker.no.such.module", "B::Type": "stoker.no.such"}
    names = Registry(modules).names()
    assert set(modules) <= set(names)
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
    assert not WITHDRAWN & built_in().keys()


def test_plugins_that_derive_from_the_bare_resource_type_are_managed(tmp_path):
    text = PLUGIN.format(name="My::Type").replace("ManagedType", "ResourceType")
    (tmp_path / "earlier.py").write_text(text)
    type_ = Registry(plugin_directories=[str(tmp_path)]).find("My::Type")
    assert isinstance(type_, ManagedType)
    assert type_.create(None) == Done(physical_id="x")


def test_every_class_with_a_name_is_a_built_in_type_of_that_name():
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(stoker.resources.__path__, "stoker.resources.")
    ]
    declared = {
        value.type_name: module.__name__
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type)
        and value.__module__ == module.__name__
        and issubclass(value, ResourceType)
        and "type_name" in vars(value)
    }
    assert declared == built_in()
