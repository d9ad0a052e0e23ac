"""Rules about passwords, keys and tokens in templates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from stoker.cli.authoring.lint.rule import Group, Problem, Problems, Severity, rule
from stoker.cli.authoring.lint.scripts import placeholders
from stoker.cli.authoring.lint.secret_words import (
    KNOWN_DEFAULTS,
    PRIVATE_KEY,
    TOKENS,
    credentials_in,
    is_hidden,
    is_placeholder,
    is_secret_name,
)
from stoker.cli.authoring.lint.views import TemplateView, Text
from stoker.kernel.diagnostics import Path
from stoker.schema.properties import Property

_TEXT_TYPES = frozenset(("None", "string", "String", "json", "Json", "comma_delimited_list"))


def _is_secret(name: str, declaration: Mapping[str, Any]) -> bool:
    kind = declaration.get("type", declaration.get("Type"))
    return str(kind) in _TEXT_TYPES and is_secret_name(name)


@rule(
    Group.SECURITY,
    "A secret is written into the template.",
    why="""Templates are in version control, in the database of the service, and in the answers of
        its API. Everybody who can read one of these has the secret, and cannot be excluded later.
        """,
    remedy="Pass the secret as a hidden parameter, generate it, or store it in Barbican.",
    bad="""
        resources:
          user:
            type: OS::Keystone::User
            properties:
              name: deployer
              password: n0tS0Secret  # here
        """,
    good="""
        parameters:
          deployer_password: {type: string, hidden: true}
        resources:
          user:
            type: OS::Keystone::User
            properties:
              name: deployer
              password: {get_param: deployer_password}
        """,
)
def plain_secret(view: TemplateView) -> Problems:
    """Yield literals in properties that have secrets, by their type or their name."""
    for resource in view.resources:
        type_ = view.type_of(resource)
        declared = {} if type_ is None else type_.properties
        for name, path in _plain(view, resource.properties, resource.at(), declared):
            yield Problem(f'the secret "{name}" is written into the template', path)


def _plain(
    view: TemplateView, value: Any, path: Path, declared: Mapping[str, Property] | None
) -> Iterator[tuple[str, Path]]:
    """Yield the names and places of secrets that are literals."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _plain(view, item, (*path, index), declared)
        return
    if not isinstance(value, Mapping) or view.call_in(value) is not None:
        return
    for key, inner in value.items():
        own = None if declared is None else declared.get(key)
        if (own is not None and own.sensitive) or is_secret_name(str(key)):
            for literal, place in _literals(view, inner, (*path, key)):
                if isinstance(literal, str) and literal and not is_placeholder(literal):
                    yield str(key), place
        entries = None if own is None else own.entries
        if own is not None and own.items is not None:
            entries = own.items.entries
        yield from _plain(view, inner, (*path, key), entries)


def _literals(view: TemplateView, value: Any, path: Path) -> Iterator[tuple[Any, Path]]:
    """Yield literals in both branches of ``if``, without defaults of parameters."""
    call = view.call_in(value)
    if call is None:
        yield value, path
    elif call[0] in ("if", "Fn::If") and isinstance(call[1], list):
        for index, branch in enumerate(call[1][1:], 1):
            yield from _literals(view, branch, (*path, call[0], index))


@rule(
    Group.SECURITY,
    "A secret parameter has a default.",
    why="""Most stacks keep the default, so they all have the same secret, and it is in the
        template.""",
    remedy="Remove the default, so that each stack gives its own value, or generate the secret.",
    bad="""
        parameters:
          db_password:
            type: string
            hidden: true
            default: wordpress  # here
        resources:
          text:
            type: OS::Heat::Value
            properties: {value: {get_param: db_password}}
        """,
    good="""
        resources:
          db_password:
            type: OS::Heat::RandomString
            properties: {length: 32}
        """,
)
def secret_default(view: TemplateView) -> Problems:
    """Yield defaults of parameters that are hidden or named like secrets."""
    for name, declaration in view.parameters.items():
        default = declaration.get(view.dialect.default)
        if not isinstance(default, str | int) or default in ("", 0) or isinstance(default, bool):
            continue
        if not _is_secret(name, declaration) or is_placeholder(str(default)):
            continue
        weak = " that attackers try first" if str(default).lower() in KNOWN_DEFAULTS else ""
        path = (view.dialect.parameters, name, view.dialect.default)
        yield Problem(f'the secret parameter "{name}" has a default{weak}', path)


@rule(
    Group.SECURITY,
    "A secret parameter is not hidden.",
    why="""The API, the console and the logs of clients show values of parameters unless they are
        hidden, to every user of the project.""",
    remedy="Write hidden: true, or NoEcho: true in CloudFormation.",
    bad="""
        parameters:
          db_password:  # here
            type: string
        resources:
          text:
            type: OS::Heat::Value
            properties: {value: {get_param: db_password}}
        """,
    good="""
        parameters:
          db_password:
            type: string
            hidden: true
        resources:
          text:
            type: OS::Heat::Value
            properties: {value: {get_param: db_password}}
        """,
)
def secret_not_hidden(view: TemplateView) -> Problems:
    """Yield parameters that are named like secrets and not hidden."""
    key = "hidden" if view.is_hot else "NoEcho"
    for name, declaration in view.parameters.items():
        if _is_secret(name, declaration) and not is_hidden(declaration):
            message = f'the parameter "{name}" seems to be a secret, and is shown to every reader'
            yield Problem(message, (view.dialect.parameters, name), suggestion=f"{key}: true")


@rule(
    Group.SECURITY,
    "A private key is in the template.",
    severity=Severity.ERROR,
    why="A private key that was in version control must be replaced everywhere it is used.",
    remedy="Replace the key, and pass the new one as a hidden parameter or from Barbican.",
    bad="""
        resources:
          config:
            type: OS::Heat::SoftwareConfig
            properties:
              group: script
              config: |  # here
                cat > /etc/ssl/site.key <<END
                -----BEGIN RSA PRIVATE KEY-----
                MIIEpAIBAAKCAQEA7bq4
                -----END RSA PRIVATE KEY-----
                END
          deployment:
            type: OS::Heat::SoftwareDeployment
            properties: {config: {get_resource: config}, server: web}
        """,
    good="""
        parameters:
          site_key: {type: string, hidden: true}
        resources:
          config:
            type: OS::Heat::SoftwareConfig
            properties:
              group: script
              inputs: [{name: site_key}]
              config: |
                #!/bin/sh
                echo "$site_key" > /etc/ssl/site.key
          deployment:
            type: OS::Heat::SoftwareDeployment
            properties:
              config: {get_resource: config}
              server: web
              input_values: {site_key: {get_param: site_key}}
        """,
)
def private_key(view: TemplateView) -> Problems:
    """Yield texts with a private key."""
    for text in _all_texts(view):
        if PRIVATE_KEY.search(text.value):
            yield Problem("a private key is in the template", text.path)


@rule(
    Group.SECURITY,
    "A token of a known service is in the template.",
    severity=Severity.ERROR,
    why="""Tokens of code hosts and clouds are valid for everybody who has them. Programs search
        repositories for their forms, and find them within minutes.""",
    remedy="Revoke the token, and pass a new one as a hidden parameter.",
    bad="""
        resources:
          config:
            type: OS::Heat::Value
            properties:
              value: https://deploy@example.org?key=AKIAIOSFODNN7EXAMPLE  # here
        """,
    good="""
        parameters:
          access_key: {type: string, hidden: true}
        resources:
          config:
            type: OS::Heat::Value
            properties:
              value: {get_param: access_key}
        """,
)
def access_token(view: TemplateView) -> Problems:
    """Yield texts with a token in the form of a known service."""
    for text in _all_texts(view):
        if TOKENS.search(text.value):
            yield Problem("an access token is in the template", text.path)


@rule(
    Group.SECURITY,
    "A URL contains a password.",
    why="""Addresses are written to logs of clients, proxies and servers, with the password in them.
        """,
    remedy="Pass the password separately, as a hidden parameter.",
    bad="""
        resources:
          address:
            type: OS::Heat::Value
            properties:
              value: postgresql://shop:gre3nTree@db.internal/shop  # here
        """,
    good="""
        parameters:
          db_password: {type: string, hidden: true}
        resources:
          address:
            type: OS::Heat::Value
            properties:
              value:
                str_replace:
                  template: postgresql://shop:$password@db.internal/shop
                  params: {$password: {get_param: db_password}}
        """,
)
def credentials_in_url(view: TemplateView) -> Problems:
    """Yield texts that have a URL with user and password."""
    for text in _all_texts(view):
        user = credentials_in(text.value)
        if user is not None:
            yield Problem(f'the URL contains the password of "{user}"', text.path)


def _all_texts(view: TemplateView) -> Iterator[Text]:
    yield from view.texts
    for name, declaration in view.parameters.items():
        default = declaration.get(view.dialect.default)
        if isinstance(default, str):
            yield Text(default, (view.dialect.parameters, name, view.dialect.default))


_ASSIGNED = re.compile(
    r"(?im)^[^#\n]*?\b(?:export\s+)?[A-Za-z_]*(?:password|passwd|secret|token)"
    r"[ \t]*(?:=|:[ \t])[ \t]*[\"']?([^\s\"'$%{}<>()|&;\\]{6,})[\"']?\s*$"
)
_LISTED = re.compile(
    r"(?m)^chpasswd:\s*\n(?:\s+\w+:.*\n)*?\s+list:\s*\|?\s*\n\s+(?:- )?\w+:([^\s$]+)$"
)
_CHPASSWD = re.compile(r"(?m)echo\s+[\"']?\w+:([^\s\"'$]+)[\"']?\s*\|\s*(?:sudo\s+)?chpasswd")
_PASSWORDS = (_ASSIGNED, _CHPASSWD, _LISTED)


@rule(
    Group.SECURITY,
    "A script or a cloud-config sets a password that is written in it.",
    why="""Every process of a server can read its user data from the metadata service. The password
        is in the template, too.""",
    remedy="Insert a hidden parameter with str_replace, or let the server generate the password.",
    bad="""
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: debian
              flavor: small
              networks: [{network: internal}]
              user_data: |  # here
                #!/bin/sh
                DB_PASSWORD=gre3nTree
                mysqladmin password "$DB_PASSWORD"
        """,
    good="""
        parameters:
          db_password: {type: string, hidden: true}
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: debian
              flavor: small
              networks: [{network: internal}]
              user_data:
                str_replace:
                  params: {$db_password: {get_param: db_password}}
                  template: |
                    #!/bin/sh
                    DB_PASSWORD=$db_password
                    mysqladmin password "$DB_PASSWORD"
        """,
)
def secret_in_script(view: TemplateView) -> Problems:
    """Yield long texts that assign a literal to the name of a secret."""
    names = placeholders(view)
    for text in view.texts:
        if "\n" not in text.value:
            continue
        match = next(filter(None, (each.search(text.value) for each in _PASSWORDS)), None)
        if match is None or any(each in match[1] for each in names):
            continue
        if not _is_harmless(match[1]):
            yield Problem("the text sets a password that is written in it", text.path)


_HARMLESS = re.compile(
    r"(?i:true|false|yes|no|none|null|required|optional|password|passwd|secret|token)"
    r"|/.*|\d+|[A-Z_]+|.*\.\w+\(.*"
)


def _is_harmless(value: str) -> bool:
    return is_placeholder(value) or bool(_HARMLESS.fullmatch(value))
