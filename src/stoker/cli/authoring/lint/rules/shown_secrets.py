"""Rules about secrets that outputs, metadata and servers show."""

from __future__ import annotations

from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, rule
from stoker.cli.authoring.lint.secret_words import is_hidden, is_secret_name
from stoker.cli.authoring.lint.views import TemplateView, as_number
from stoker.template.describe.references import ReferenceKind


def _secrets(view: TemplateView) -> frozenset[str]:
    """Return hidden parameters, except those with a default that everybody knows."""
    return frozenset(
        name
        for name, each in view.parameters.items()
        if is_hidden(each)
        and (is_secret_name(name) or each.get(view.dialect.default) in (None, ""))
    )


@rule(
    Group.SECURITY,
    "An output shows a hidden parameter.",
    why="""Outputs are shown to every user of the project, and stay in the database. That the
        parameter is hidden has no effect then.""",
    remedy="Remove the output. The user who set the parameter knows it.",
    bad="""
        parameters:
          admin_password: {type: string, hidden: true}
        outputs:
          login:
            value: {list_join: [":", [admin, {get_param: admin_password}]]}  # here
        """,
    good="""
        parameters:
          admin_password: {type: string, hidden: true}
        resources:
          secret:
            type: OS::Barbican::Secret
            properties: {payload: {get_param: admin_password}, payload_content_type: text/plain}
        outputs:
          login:
            value: {get_resource: secret}
        """,
)
def secret_output(view: TemplateView) -> Problems:
    """Yield outputs with hidden parameters."""
    hidden = _secrets(view)
    for reference in view.references:
        is_output = reference.path[0] == view.dialect.outputs
        if is_output and reference.kind is ReferenceKind.PARAMETER and reference.name in hidden:
            message = f'the output shows the hidden parameter "{reference.name}"'
            yield Problem(message, (*reference.path[:2], view.dialect.value))


@rule(
    Group.SECURITY,
    "An output shows a generated secret.",
    level=Level.STRICT,
    why="""Private keys and generated passwords in outputs are readable for every user of the
        project, as long as the stack exists.""",
    remedy="Store the secret in Barbican, and return its reference.",
    bad="""
        resources:
          key:
            type: OS::Nova::KeyPair
            properties: {name: shop, save_private_key: true}
        outputs:
          key:
            value: {get_attr: [key, private_key]}  # here
        """,
    good="""
        resources:
          key:
            type: OS::Nova::KeyPair
            properties: {name: shop, save_private_key: true}
        outputs:
          key:
            value: {get_attr: [key, public_key]}
        """,
)
def generated_secret_output(view: TemplateView) -> Problems:
    """Yield outputs with private keys and random strings."""
    for reference in view.references:
        if reference.path[0] != view.dialect.outputs or not reference.rest:
            continue
        resource = view.by_name.get(reference.name)
        kind = "" if resource is None else resource.type
        if (kind, str(reference.rest[0])) in _GENERATED:
            message = f'the output shows the secret of "{reference.name}"'
            yield Problem(message, (*reference.path[:2], view.dialect.value))


_GENERATED = frozenset(
    (
        ("OS::Nova::KeyPair", "private_key"),
        ("OS::Heat::RandomString", "value"),
        ("AWS::IAM::AccessKey", "SecretAccessKey"),
        ("OS::Barbican::Secret", "decrypted_payload"),
    )
)


@rule(
    Group.SECURITY,
    "The metadata of a server shows a hidden parameter.",
    why="""Metadata of a server is readable for every user of the project in the compute API, and
        for every process of the server.""",
    remedy="Store the secret in Barbican, and give the server its reference.",
    bad="""
        parameters:
          api_key: {type: string, hidden: true}
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: debian
              flavor: small
              networks: [{network: internal}]
              metadata: {key: {get_param: api_key}}  # here
        """,
    good="""
        parameters:
          api_key: {type: string, hidden: true}
        resources:
          secret:
            type: OS::Barbican::Secret
            properties: {payload: {get_param: api_key}, payload_content_type: text/plain}
          server:
            type: OS::Nova::Server
            properties:
              image: debian
              flavor: small
              networks: [{network: internal}]
              metadata: {key: {get_resource: secret}}
        """,
)
def secret_in_metadata(view: TemplateView) -> Problems:
    """Yield hidden parameters in metadata, names, tags and descriptions."""
    hidden = _secrets(view)
    for reference in view.references:
        if reference.kind is not ReferenceKind.PARAMETER or reference.name not in hidden:
            continue
        shown = [part for part in reference.path[3:5] if part in _SHOWN]
        if reference.path[0] == view.dialect.resources and shown:
            message = f'"{shown[0]}" shows the hidden parameter "{reference.name}"'
            yield Problem(message, reference.path)


_SHOWN = frozenset(("metadata", "tags", "name", "description", "Tags", "meta"))


@rule(
    Group.SECURITY,
    "The administrator's password of a server is set by the template.",
    level=Level.STRICT,
    why="""The password is in the definition of the stack, and often gives access over the network.
        """,
    remedy="Use key_name, so that users log in with a key.",
    bad="""
        parameters:
          admin: {type: string, hidden: true}
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: debian
              flavor: small
              networks: [{network: internal}]
              admin_pass: {get_param: admin}  # here
        """,
    good="""
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: debian
              flavor: small
              networks: [{network: internal}]
              key_name: operators
        """,
)
def server_admin_password(view: TemplateView) -> Problems:
    """Yield servers with admin_pass."""
    for resource in view.of_type("OS::Nova::Server"):
        if resource.has("admin_pass"):
            yield Problem(
                "the server has a password for its administrator", resource.at("admin_pass")
            )


@rule(
    Group.SECURITY,
    "A generated secret is short.",
    why="A random string of few characters can be guessed.",
    remedy="Use a length of at least 12; the default is 32.",
    bad="""
        resources:
          db_password:
            type: OS::Heat::RandomString
            properties: {length: 6}  # here
        """,
    good="""
        resources:
          db_password:
            type: OS::Heat::RandomString
            properties: {length: 20}
        """,
)
def short_generated_secret(view: TemplateView, *, characters: int = 12) -> Problems:
    """Yield random strings that are named like secrets and short."""
    for resource in view.of_type("OS::Heat::RandomString"):
        length = as_number(view.constant(resource.properties.get("length")))
        if length is not None and length < characters and is_secret_name(resource.name):
            yield Problem(f"the secret has only {length} characters", resource.at("length"))


@rule(
    Group.SECURITY,
    "A digest uses a broken hash function.",
    level=Level.STRICT,
    why="MD5 and SHA-1 have collisions, and passwords can be guessed from them quickly.",
    remedy="Use sha256 or sha512. For passwords, use a hash with a salt on the server.",
    bad="""
        parameters:
          text: {type: string}
        resources:
          sum:
            type: OS::Heat::Value
            properties:
              value: {digest: [md5, {get_param: text}]}  # here
        """,
    good="""
        parameters:
          text: {type: string}
        resources:
          sum:
            type: OS::Heat::Value
            properties:
              value: {digest: [sha256, {get_param: text}]}
        """,
)
def weak_digest(view: TemplateView) -> Problems:
    """Yield digests with MD5 or SHA-1."""
    for call in view.calls_of("digest"):
        name = call.arguments[0] if isinstance(call.arguments, list) and call.arguments else None
        if name in ("md5", "sha1"):
            yield Problem(f"{name} is broken", call.path, suggestion="use sha256")
