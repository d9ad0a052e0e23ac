"""The places where resource types are found."""

import importlib
import inspect
import pkgutil
import sys

import pytest

import stoker.resources
import stoker.schema
from stoker.resources.base.builtin_types import WITHDRAWN, built_in
from stoker.resources.base.registry import Registry
from stoker.resources.base.renamed_types import OLDER_NAMES
from stoker.schema.resource_type import Done, ManagedType, ResourceType
from stoker.template.describe.catalogue import Catalogue

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


def _capabilities():
    """Yield the Protocols that the engine checks types for with isinstance."""
    for found in pkgutil.walk_packages(stoker.schema.__path__, "stoker.schema."):
        for value in vars(importlib.import_module(found.name)).values():
            if getattr(value, "_is_runtime_protocol", False) and value.__module__ == found.name:
                yield value


def test_capability_methods_of_types_have_matching_signatures():
    # The engine would call a method of the same name that has other arguments.
    capabilities = list(_capabilities())
    assert len(capabilities) > 20
    registry = Registry()
    for name in built_in():
        type_ = registry.find(name)
        for capability in (each for each in capabilities if isinstance(type_, each)):
            for method, function in vars(capability).items():
                if inspect.isfunction(function) and not method.startswith("_"):
                    [_, *wanted] = inspect.signature(function).parameters
                    found = list(inspect.signature(getattr(type_, method)).parameters)
                    assert found == wanted, f"{name}.{method} of {capability}"


def test_type_is_instantiated_once_unknown_name_is_none():
    registry = Registry()
    assert registry.find("OS::Heat::Value") is registry.find("OS::Heat::Value")
    assert registry.find("OS::No::Such") is None


def test_listing_names_imports_no_type():
    modules = {"A::Type": "stoker.no.such.module", "B::Type": "stoker.no.such"}
    names = Registry(modules).names()
    assert set(modules) <= set(names)
    assert names == sorted(names)
    assert "stoker.no" not in sys.modules


def test_plugin_types_precede_built_in_ones(tmp_path):
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


@pytest.mark.parametrize(
    ("name", "successor"),
    [
        *OLDER_NAMES.items(),
        ("OS::Nova::FloatingIP", "OS::Neutron::FloatingIP"),
        ("OS::Nova::FloatingIPAssociation", "OS::Neutron::FloatingIPAssociation"),
    ],
)
def test_older_type_name_is_hidden_and_names_successor(name, successor):
    registry = Registry()
    catalogue = Catalogue(registry)
    told = catalogue.resource_type(name, with_description=False)["support_status"]
    assert (told["status"], told["message"]) == ("HIDDEN", f"Use {successor} instead.")
    assert told["previous_status"]["status"] == "DEPRECATED"
    assert name not in [each for each, _ in catalogue.resource_types()]
    assert registry.find(successor).support.status != "HIDDEN"


def test_plugins_of_bare_resource_type_are_managed(tmp_path):
    text = PLUGIN.format(name="My::Type").replace("ManagedType", "ResourceType")
    (tmp_path / "earlier.py").write_text(text)
    type_ = Registry(plugin_directories=[str(tmp_path)]).find("My::Type")
    assert isinstance(type_, ManagedType)
    assert type_.create(None) == Done(physical_id="x")


def test_every_named_class_is_a_built_in_type():
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


@pytest.mark.parametrize(
    ("former", "name"),
    [
        ("OS::Heat::SoftwareDeployments", "OS::Heat::SoftwareDeploymentGroup"),
        ("OS::Heat::StructuredDeployments", "OS::Heat::StructuredDeploymentGroup"),
        ("OS::Quantum::Net", "OS::Neutron::Net"),
    ],
)
def test_renamed_type_is_known_by_both_names(former: str, name: str) -> None:
    registry = Registry()
    for each in (former, name):
        found = registry.find(each)
        assert found is not None
        assert found.also_named == {former, name}
    unchanged = registry.find("OS::Heat::Value")
    assert unchanged is not None
    assert unchanged.also_named == frozenset()
