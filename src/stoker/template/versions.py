"""The versions of the template language: their sections and functions.

A version only adds to or removes from the one before it. The tables below list these changes; the
resulting sets are computed once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from stoker.kernel.diagnostics import DiagnosticError, did_you_mean, refusal
from stoker.kernel.errors import BAD_REQUEST, INVALID_VERSION


class Dialect(Struct, frozen=True):
    """The spelling of sections and of the keys of resources and outputs; empty if there is none."""

    name: str = "hot"
    description: str = "description"
    parameters: str = "parameters"
    default: str = "default"
    resources: str = "resources"
    outputs: str = "outputs"
    conditions: str = "conditions"
    mappings: str = ""
    type: str = "type"
    properties: str = "properties"
    metadata: str = "metadata"
    depends_on: str = "depends_on"
    deletion_policy: str = "deletion_policy"
    update_policy: str = "update_policy"
    creation_policy: str = ""
    update_replace_policy: str = ""
    condition: str = "condition"
    external_id: str = "external_id"
    value: str = "value"
    export: str = ""

    @property
    def resource_keys(self) -> frozenset[str]:
        """Return the keys that a resource may have in the newest version of the dialect."""
        keys = {
            self.type, self.properties, self.metadata, self.depends_on, self.deletion_policy,
            self.update_policy, self.creation_policy, self.update_replace_policy, self.condition,
            self.external_id, self.description,
        }  # fmt: skip
        return frozenset(keys - {""})


HOT = Dialect()
CFN = Dialect(
    name="cfn",
    description="Description",
    parameters="Parameters",
    default="Default",
    resources="Resources",
    outputs="Outputs",
    conditions="Conditions",
    mappings="Mappings",
    type="Type",
    properties="Properties",
    metadata="Metadata",
    depends_on="DependsOn",
    deletion_policy="DeletionPolicy",
    update_policy="UpdatePolicy",
    creation_policy="CreationPolicy",
    update_replace_policy="UpdateReplacePolicy",
    condition="Condition",
    external_id="",
    value="Value",
    export="Export",
)


class Version(Struct, frozen=True):
    """One version of the template language."""

    key: str  # the section that names the version, as ``heat_template_version``
    name: str
    dialect: Dialect
    functions: frozenset[str]
    condition_functions: frozenset[str]
    sections: frozenset[str]
    aliases: tuple[str, ...] = ()
    # Functions of older versions, which this one rejects by name.
    removed: frozenset[str] = frozenset()
    extensions: frozenset[str] = frozenset()  # functions beyond those that Heat has in this version
    condition_extensions: frozenset[str] = frozenset()  # the same in conditions
    resource_keys: frozenset[str] = frozenset()

    @property
    def has_conditions(self) -> bool:
        """Return whether resources and outputs may be conditional."""
        return self.dialect.conditions in self.sections

    @property
    def deletion_policies(self) -> Mapping[str, str]:
        """Return the accepted spellings of deletion policies."""
        policies = {name: name for name in ("Delete", "Retain", "Snapshot")}
        if self.dialect is HOT and self.has_conditions:
            policies |= {name.lower(): name for name in tuple(policies)}
        return policies

    def __str__(self) -> str:
        return f"{self.key}.{self.name}"


_CFN_FUNCTIONS = frozenset(
    {
        "Fn::Base64", "Fn::FindInMap", "Fn::GetAZs", "Fn::GetAtt", "Fn::Join",
        "Fn::MemberListToMap", "Fn::Replace", "Fn::ResourceFacade", "Fn::Select", "Fn::Split",
        "Ref",
    }
)  # fmt: skip
_CFN_EXTENSIONS = frozenset(
    {"Fn::Cidr", "Fn::ImportValue", "Fn::Length", "Fn::Sub", "Fn::ToJsonString"}
)
_CFN_SECTIONS = frozenset(
    {
        "AWSTemplateFormatVersion", "HeatTemplateFormatVersion", "Description", "Mappings",
        "Parameters", "Resources", "Outputs",
    }
)  # fmt: skip
# Sections that Heat's dialect lacks.
_CFN_EXTRA_SECTIONS = frozenset({"Metadata", "Rules", "Transform"})
_CFN_CONDITIONS = frozenset({"Fn::And", "Fn::Equals", "Fn::FindInMap", "Fn::Not", "Fn::Or", "Ref"})
_CFN_CONDITION_EXTENSIONS = frozenset(
    {"Fn::Join", "Fn::Length", "Fn::Select", "Fn::Split", "Fn::Sub", "Fn::ToJsonString"}
)
_CFN_IN_HOT = _CFN_FUNCTIONS - {"Fn::FindInMap", "Fn::GetAtt"}
_HOT_SECTIONS = frozenset(
    {
        "heat_template_version", "description", "parameter_groups", "parameters", "resources",
        "outputs",
    }
)  # fmt: skip
_HOT_FIRST = frozenset(
    {
        "get_attr", "get_file", "get_param", "get_resource", "list_join", "resource_facade",
        "str_replace",
    }
)  # fmt: skip
_PIKE = frozenset(
    {"contains", "list_concat", "list_concat_unique", "make_url", "str_replace_vstrict"}
)
# Name and aliases of each version, the functions that it adds, and those that it removes.
_HOT_CHANGES: tuple[tuple[str, tuple[str, ...], frozenset[str], frozenset[str]], ...] = (
    ("2013-05-23", (), _HOT_FIRST | _CFN_IN_HOT, frozenset()),
    ("2014-10-16", (), frozenset(), _CFN_IN_HOT - {"Fn::Select"}),
    ("2015-04-30", (), frozenset({"digest", "repeat"}), frozenset()),
    ("2015-10-15", (), frozenset({"str_split"}), frozenset({"Fn::Select"})),
    ("2016-04-08", (), frozenset({"map_merge"}), frozenset()),
    ("2016-10-14", ("newton",), frozenset({"if", "map_replace", "yaql"}), frozenset()),
    ("2017-02-24", ("ocata",), frozenset({"filter", "str_replace_strict"}), frozenset()),
    ("2017-09-01", ("pike",), _PIKE, frozenset()),
    ("2018-03-02", ("queens",), frozenset(), frozenset()),
    ("2018-08-31", ("rocky",), frozenset(), frozenset()),
    ("2021-04-16", ("wallaby",), frozenset(), frozenset()),
)
_CONDITIONAL_SINCE = "2016-10-14"
_RICH_CONDITIONS_SINCE = "2017-09-01"


def _hot_versions() -> list[Version]:
    versions = []
    functions: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    for name, aliases, added, dropped in _HOT_CHANGES:
        functions = (functions | added) - dropped
        removed = removed | dropped
        conditions: frozenset[str] = frozenset()
        sections, keys = _HOT_SECTIONS, HOT.resource_keys
        if name >= _CONDITIONAL_SINCE:
            conditions = frozenset({"and", "equals", "get_param", "not", "or"})
            sections = sections | {"conditions"}
        else:
            keys = keys - {"condition", "external_id"}
        if name >= _RICH_CONDITIONS_SINCE:
            conditions = conditions | {"contains", "yaql"}
        versions.append(
            Version(
                key="heat_template_version",
                name=name,
                dialect=HOT,
                functions=functions,
                condition_functions=conditions,
                sections=sections,
                aliases=aliases,
                removed=removed,
                resource_keys=keys,
            )
        )
    return versions


# All versions, the CloudFormation ones first, then by date.
VERSIONS: tuple[Version, ...] = (
    Version(
        key="AWSTemplateFormatVersion",
        name="2010-09-09",
        dialect=CFN,
        functions=_CFN_FUNCTIONS | {"Fn::If"},
        condition_functions=_CFN_CONDITIONS,
        sections=_CFN_SECTIONS | _CFN_EXTRA_SECTIONS | {"Conditions"},
        extensions=_CFN_EXTENSIONS,
        condition_extensions=_CFN_CONDITION_EXTENSIONS,
        resource_keys=CFN.resource_keys,
    ),
    Version(
        key="HeatTemplateFormatVersion",
        name="2012-12-12",
        dialect=CFN,
        functions=_CFN_FUNCTIONS,
        condition_functions=frozenset(),
        sections=_CFN_SECTIONS,
        extensions=_CFN_EXTENSIONS,
        resource_keys=CFN.resource_keys - {"Condition"},
    ),
    *_hot_versions(),
)
CFN_VERSION = VERSIONS[0]  # the version of AWS's own templates, in which it is optional

# Start of the errors about texts that are not templates. Clients search for it.
NOT_VALID = "Template not in valid format"
VERSION_KEYS = ("heat_template_version", "HeatTemplateFormatVersion", "AWSTemplateFormatVersion")
# A key, or an escape that may be a part of one.
_MAYBE_KEY = re.compile("|".join([*VERSION_KEYS, r"\\[xuU\r\n]"]))

# Names in the API, those of HOT with their aliases.
BY_NAME: Mapping[str, Version] = {
    f"{version.key}.{name}": version
    for version in VERSIONS
    for name in (version.name, *version.aliases)
}


def may_be_template(text: str) -> bool:
    """Return whether a text may name a template version. Without one, it is not a template."""
    return _MAYBE_KEY.search(text) is not None


def version_of(data: Mapping[Any, Any]) -> Version:
    """Return the version that a document names.

    Raises :class:`DiagnosticError` if it names none.
    """
    keys = [key for key in VERSION_KEYS if key in data]
    if not keys:
        raise _no_version(data)
    key = keys[0]
    if len(keys) > 1:
        raise _invalid(f"only one of {', '.join(keys)} may be given", (key,))
    name = data[key]
    if isinstance(name, int | float) and not isinstance(name, bool):
        name = str(name)
    if not isinstance(name, str):
        raise _invalid(f"{key} must name a version", (key,))
    version = BY_NAME.get(f"{key}.{name}")
    if version is None:
        names = [known.removeprefix(f"{key}.") for known in BY_NAME if known.startswith(key)]
        message = f'"{name}" is not a version of {key}; known are {", ".join(sorted(names))}'
        raise _invalid(message, (key,), did_you_mean(name, names))
    return version


def advice_on(
    word: str, version: Version, words: Callable[[Version], Collection[str]]
) -> str | None:
    """Return the advice on a word that a version lacks.

    It is the first version of the dialect that has the word, or the word that may be meant.
    """
    for other in VERSIONS:
        if other.dialect is version.dialect and word in words(other):
            return f"{other.key} {other.name} has it"
    return did_you_mean(word, words(version))


_NEWEST = f"{VERSION_KEYS[0]}: 2021-04-16"
# Other documents that users send by mistake: description and remedy by their keys.
_MISTAKEN: Mapping[str, Sequence[str]] = {
    "these are the sections of an environment: give it with -e": (
        "resource_registry", "parameter_defaults",
    ),
    "this is a TOSCA document: translate it to HOT first, as heat-translator does": (
        "tosca_definitions_version",
    ),
    "this is a Kubernetes manifest: apply it with kubectl": ("apiVersion",),
    "this is a Compose file: run it with docker compose, or describe servers in a template": (
        "services",
    ),
    "this is a Terraform configuration in JSON: run it with terraform or tofu": (
        "terraform", "provider",
    ),
    "this is user data for cloud-init: give it to a server as its user_data, with get_file": (
        "runcmd", "bootcmd", "write_files", "packages", "package_update", "package_upgrade",
    ),
}  # fmt: skip


def _no_version(data: Mapping[Any, Any]) -> DiagnosticError:
    """Return the error, with the misspelt key if a top-level key resembles the right one."""
    is_cloudformation = CFN.resources in data
    advice = f"{CFN_VERSION.key}: {CFN_VERSION.name}" if is_cloudformation else _NEWEST
    message = f"{NOT_VALID}: Template format version not found. It is given as {advice}"
    for key in islice(data, 100):
        near = did_you_mean(str(key), VERSION_KEYS)
        if near is not None:
            message = f'{message}; "{key}" is not a section'
            return refusal("no-version", message, (key,), BAD_REQUEST, suggestion=near)
    if not data:
        message = f"{NOT_VALID}: the document is empty. A template begins with {_NEWEST}"
        return refusal("no-version", message, (), BAD_REQUEST)
    mistaken = (advice for advice, keys in _MISTAKEN.items() if not data.keys().isdisjoint(keys))
    return refusal("no-version", message, (), BAD_REQUEST, suggestion=next(mistaken, None))


def _invalid(message: str, path: tuple[str, ...], suggestion: str | None = None) -> DiagnosticError:
    message = f"The template version is invalid: {message}"
    return refusal("bad-version", message, path, INVALID_VERSION, suggestion=suggestion)
