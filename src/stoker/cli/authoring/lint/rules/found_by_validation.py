"""Documentation of findings of ``stoker validate`` that templates often have."""

from __future__ import annotations

from stoker.cli.authoring.lint.rule import Group, Severity, validation_rule

validation_rule(
    "unknown-parameter",
    Group.CORRECTNESS,
    "A reference names a parameter that is not declared.",
    why="The template cannot be evaluated.",
    remedy="Correct the name, or declare the parameter.",
    bad="""
        parameters:
          length: {type: number}
        resources:
          text:
            type: OS::Heat::RandomString
            properties: {length: {get_param: lenght}}  # here
        """,
    good="""
        parameters:
          length: {type: number}
        resources:
          text:
            type: OS::Heat::RandomString
            properties: {length: {get_param: length}}
        """,
    also=("unused-parameter",),
)
validation_rule(
    "unknown-reference",
    Group.CORRECTNESS,
    "A reference names a resource that does not exist.",
    why="The template cannot be evaluated.",
    remedy="Correct the name, or add the resource.",
    bad="""
        resources:
          text: {type: OS::Heat::RandomString}
        outputs:
          text: {value: {get_resource: txet}}  # here
        """,
    good="""
        resources:
          text: {type: OS::Heat::RandomString}
        outputs:
          text: {value: {get_resource: text}}
        """,
)
validation_rule(
    "unknown-resource",
    Group.CORRECTNESS,
    "An attribute or a dependency names a resource that does not exist.",
    why="The template cannot be evaluated.",
    remedy="Correct the name, or add the resource.",
    bad="""
        resources:
          text: {type: OS::Heat::RandomString}
          other: {type: OS::Heat::RandomString, depends_on: [txet]}  # here
        """,
    good="""
        resources:
          text: {type: OS::Heat::RandomString}
          other: {type: OS::Heat::RandomString, depends_on: [text]}
        """,
)
validation_rule(
    "unknown-attribute",
    Group.CORRECTNESS,
    "A resource does not have an attribute.",
    why="The value would always be empty, so the template is refused.",
    remedy="Use one of the attributes of the type.",
    bad="""
        resources:
          text: {type: OS::Heat::RandomString}
        outputs:
          text: {value: {get_attr: [text, valeu]}}  # here
        """,
    good="""
        resources:
          text: {type: OS::Heat::RandomString}
        outputs:
          text: {value: {get_attr: [text, value]}}
        """,
)
validation_rule(
    "unknown-property",
    Group.CORRECTNESS,
    "A type does not have a property.",
    why="The service could not use the value, so the template is refused.",
    remedy="Correct the name, or remove the property.",
    bad="""
        resources:
          text:
            type: OS::Heat::RandomString
            properties: {lenght: 8}  # here
        """,
    good="""
        resources:
          text:
            type: OS::Heat::RandomString
            properties: {length: 8}
        """,
)
validation_rule(
    "missing-property",
    Group.CORRECTNESS,
    "A required property is missing.",
    why="The service needs the value to make the object.",
    remedy="Give the property.",
    bad="""
        resources:
          volume:
            type: OS::Cinder::VolumeAttachment
            properties: {volume_id: data}  # here
        """,
    good="""
        resources:
          volume:
            type: OS::Cinder::VolumeAttachment
            properties: {volume_id: data, instance_uuid: web}
        """,
)
validation_rule(
    "wrong-type",
    Group.CORRECTNESS,
    "A value has the wrong type.",
    why="The service could not use the value, so the template is refused.",
    remedy="Give a value of the type in the message.",
    bad="""
        resources:
          text:
            type: OS::Heat::RandomString
            properties: {length: eight}  # here
        """,
    good="""
        resources:
          text:
            type: OS::Heat::RandomString
            properties: {length: 8}
        """,
)
validation_rule(
    "constraint-violated",
    Group.CORRECTNESS,
    "A value breaks a constraint of its property.",
    why="The service does not accept the value, so the template is refused.",
    remedy="Give an allowed value.",
    bad="""
        resources:
          text:
            type: OS::Heat::RandomString
            properties: {length: 1000}  # here
        """,
    good="""
        resources:
          text:
            type: OS::Heat::RandomString
            properties: {length: 100}
        """,
)
validation_rule(
    "unknown-type",
    Group.CORRECTNESS,
    "A type of resources does not exist.",
    why="The service cannot make the resource.",
    remedy="Correct the name, or map it in the resource_registry of an environment.",
    bad="""
        resources:
          text: {type: OS::Heat::RandomSting}  # here
        """,
    good="""
        resources:
          text: {type: OS::Heat::RandomString}
        """,
)
validation_rule(
    "deprecated-type",
    Group.DEPRECATION,
    "A type of resources is deprecated.",
    severity=Severity.WARNING,
    why="Its service is no longer developed, or another type has replaced it.",
    remedy="Use the type in the message.",
    bad="""
        resources:
          flow:
            type: OS::Neutron::LBaaS::LoadBalancer  # here
            properties: {vip_subnet: internal}
        """,
    good="""
        resources:
          flow:
            type: OS::Octavia::LoadBalancer
            properties: {vip_subnet: internal}
        """,
)
validation_rule(
    "deprecated-property",
    Group.DEPRECATION,
    "A property is deprecated.",
    severity=Severity.WARNING,
    why="Another property has replaced it.",
    remedy="Use the property in the message.",
    bad="""
        resources:
          zone:
            type: OS::Designate::Zone
            properties: {name: example.org., type: SECONDARY, masters: [192.0.2.1]}  # here
        """,
    good="""
        resources:
          zone:
            type: OS::Designate::Zone
            properties: {name: example.org., type: SECONDARY, primaries: [192.0.2.1]}
        """,
)
validation_rule(
    "duplicate-key",
    Group.CORRECTNESS,
    "A key is given twice in one map.",
    severity=Severity.WARNING,
    why="Only the last value counts; the first one is lost without an error.",
    remedy="Remove one of them, or give it another name.",
    bad="""
        resources:
          text: {type: OS::Heat::RandomString}
          text: {type: OS::Heat::Value, properties: {value: 1}}  # here
        """,
    good="""
        resources:
          text: {type: OS::Heat::RandomString}
          value: {type: OS::Heat::Value, properties: {value: 1}}
        """,
)
validation_rule(
    "duplicate-name",
    Group.CORRECTNESS,
    "A parameter and a resource have the same name.",
    why="A reference could mean either of them.",
    remedy="Rename one of them.",
    bad="""
        parameters:
          text: {type: string, default: ""}
        resources:
          text:  # here
            type: OS::Heat::Value
            properties: {value: {get_param: text}}
        """,
    good="""
        parameters:
          text: {type: string, default: ""}
        resources:
          value:
            type: OS::Heat::Value
            properties: {value: {get_param: text}}
        """,
)
validation_rule(
    "no-function",
    Group.CORRECTNESS,
    "A value looks like a call of a function, and is none.",
    severity=Severity.WARNING,
    why="The value is the map as it is written. Its text reaches the server or service.",
    remedy="Correct the name, or use a version of the language that has the function.",
    bad="""
        parameters:
          name: {type: string}
        resources:
          text:
            type: OS::Heat::Value
            properties: {value: {get_parm: name}}  # here
        """,
    good="""
        parameters:
          name: {type: string}
        resources:
          text:
            type: OS::Heat::Value
            properties: {value: {get_param: name}}
        """,
    also=("unused-parameter",),
)
validation_rule(
    "circular-dependency",
    Group.CORRECTNESS,
    "Resources depend on each other in a circle.",
    why="None of them can be made first.",
    remedy="Remove one of the references.",
    bad="""
        resources:
          one:  # here
            type: OS::Heat::Value
            properties: {value: {get_resource: other}}
          other:
            type: OS::Heat::Value
            properties: {value: {get_resource: one}}
        """,
    good="""
        resources:
          one:
            type: OS::Heat::Value
            properties: {value: {get_resource: other}}
          other:
            type: OS::Heat::Value
            properties: {value: 1}
        """,
)
validation_rule(
    "unknown-condition",
    Group.CORRECTNESS,
    "A condition does not exist.",
    why="The template cannot be evaluated.",
    remedy="Correct the name, or declare the condition.",
    bad="""
        resources:
          text: {type: OS::Heat::RandomString, condition: is_large}  # here
        """,
    good="""
        parameters:
          size: {type: string}
        conditions:
          is_large: {equals: [{get_param: size}, large]}
        resources:
          text: {type: OS::Heat::RandomString, condition: is_large}
        """,
)
validation_rule(
    "never-equal",
    Group.CORRECTNESS,
    "A comparison never holds.",
    severity=Severity.WARNING,
    why="A text is equal to no number and no boolean, so the condition is always false.",
    remedy="Compare with a text in quotes, or declare the parameter as number or boolean.",
    bad="""
        parameters:
          wanted: {type: string}
        conditions:
          is_wanted: {equals: [{get_param: wanted}, true]}  # here
        resources:
          text: {type: OS::Heat::RandomString, condition: is_wanted}
        """,
    good="""
        parameters:
          wanted: {type: boolean}
        conditions:
          is_wanted: {equals: [{get_param: wanted}, true]}
        resources:
          text: {type: OS::Heat::RandomString, condition: is_wanted}
        """,
)
validation_rule(
    "missing-file",
    Group.CORRECTNESS,
    "A file that the template names does not exist.",
    why="The command cannot send the file, and the service refuses the template.",
    remedy="Correct the path. It is relative to the template.",
    bad="""
        resources:
          text:
            type: OS::Heat::Value
            properties: {value: {get_file: no-such-file.sh}}  # here
        """,
    good="""
        resources:
          text:
            type: OS::Heat::Value
            properties: {value: "echo"}
        """,
)
