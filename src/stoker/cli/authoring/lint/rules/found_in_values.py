"""Documentation of findings of ``stoker validate`` about values and forms."""

from __future__ import annotations

from stoker.cli.authoring.lint.rule import Group, Severity, validation_rule

validation_rule(
    "invalid-subnet",
    Group.CORRECTNESS,
    "The properties of a subnet contradict each other.",
    why="The network service refuses the subnet.",
    remedy="Choose addresses in the range, and modes of IPv6 only with ip_version 6.",
    bad="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties:
              network: internal
              cidr: 10.0.1.0/24
              allocation_pools:
                - {start: 10.0.1.200, end: 10.0.2.20}  # here
        """,
    good="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties:
              network: internal
              cidr: 10.0.1.0/24
              allocation_pools:
                - {start: 10.0.1.200, end: 10.0.1.220}
        """,
)
validation_rule(
    "invalid-server",
    Group.CORRECTNESS,
    "The properties of a server contradict each other, or are not enough.",
    why="The compute service refuses the server.",
    remedy="Give an image or a volume to boot from, and one of network, subnet and port.",
    bad="""
        resources:
          server:
            type: OS::Nova::Server
            properties: {flavor: small, networks: [{port: web}]}  # here
        """,
    good="""
        resources:
          server:
            type: OS::Nova::Server
            properties: {image: debian, flavor: small, networks: [{port: web}]}
        """,
)
validation_rule(
    "invalid-rule",
    Group.CORRECTNESS,
    "A rule of a security group contradicts itself.",
    why="The network service refuses a range that ends before it starts, or two sources.",
    remedy="Exchange the ends of the range, or remove one of the sources.",
    bad="""
        resources:
          web:
            type: OS::Neutron::SecurityGroup
            properties:
              rules:
                - {protocol: tcp, port_range_min: 90, port_range_max: 80}  # here
          port:
            type: OS::Neutron::Port
            properties: {network: internal, security_groups: [{get_resource: web}]}
        """,
    good="""
        resources:
          web:
            type: OS::Neutron::SecurityGroup
            properties:
              rules:
                - {protocol: tcp, port_range_min: 80, port_range_max: 90}
          port:
            type: OS::Neutron::Port
            properties: {network: internal, security_groups: [{get_resource: web}]}
        """,
)
validation_rule(
    "bad-sizes",
    Group.CORRECTNESS,
    "The sizes of a group contradict each other.",
    why="The group cannot be created.",
    remedy="Let min_size be at most max_size, and desired_capacity between them.",
    bad="""
        resources:
          group:
            type: OS::Heat::AutoScalingGroup
            properties:
              min_size: 5  # here
              max_size: 2
              resource: {type: OS::Heat::RandomString}
        """,
    good="""
        resources:
          group:
            type: OS::Heat::AutoScalingGroup
            properties:
              min_size: 2
              max_size: 5
              resource: {type: OS::Heat::RandomString}
        """,
)
validation_rule(
    "invalid-volume",
    Group.CORRECTNESS,
    "A volume has no source and no size, or two sources.",
    why="The volume service refuses the volume.",
    remedy="Give a size, or one source.",
    bad="""
        resources:
          data:
            type: OS::Cinder::Volume
            properties: {size: 10, image: debian, snapshot_id: monday}  # here
        """,
    good="""
        resources:
          data:
            type: OS::Cinder::Volume
            properties: {size: 10, image: debian}
        """,
)
validation_rule(
    "duplicate-address",
    Group.CORRECTNESS,
    "Two resources request the same address of a network.",
    severity=Severity.WARNING,
    why="The network service gives an address to one port, so the later one fails.",
    remedy="Choose another address, or let the network service choose.",
    bad="""
        resources:
          one:
            type: OS::Neutron::Port
            properties: {network: internal, fixed_ips: [{ip_address: 10.0.0.5}]}
          other:
            type: OS::Neutron::Port
            properties: {network: internal, fixed_ips: [{ip_address: 10.0.0.5}]}  # here
        """,
    good="""
        resources:
          one:
            type: OS::Neutron::Port
            properties: {network: internal, fixed_ips: [{ip_address: 10.0.0.5}]}
          other:
            type: OS::Neutron::Port
            properties: {network: internal, fixed_ips: [{ip_address: 10.0.0.6}]}
        """,
)
validation_rule(
    "too-short",
    Group.CORRECTNESS,
    "A random string is shorter than its required characters.",
    why="The minimum numbers of characters do not fit into the length.",
    remedy="Raise the length, or lower the minimum numbers.",
    bad="""
        resources:
          text:
            type: OS::Heat::RandomString
            properties:
              length: 4  # here
              character_classes: [{class: digits, min: 3}, {class: lowercase, min: 3}]
        """,
    good="""
        resources:
          text:
            type: OS::Heat::RandomString
            properties:
              length: 8
              character_classes: [{class: digits, min: 3}, {class: lowercase, min: 3}]
        """,
)
validation_rule(
    "reserved-name",
    Group.CORRECTNESS,
    "A security group has the name of the group that every project has.",
    why="The network service refuses a second group named default.",
    remedy="Choose another name.",
    bad="""
        resources:
          web:
            type: OS::Neutron::SecurityGroup
            properties: {name: default}  # here
        """,
    good="""
        resources:
          web:
            type: OS::Neutron::SecurityGroup
            properties: {name: web}
        """,
)
validation_rule(
    "base-60",
    Group.CORRECTNESS,
    "A number with colons is read in base 60.",
    severity=Severity.WARNING,
    why="YAML reads 22:30 as the number 1350: times and pairs of ports change their value.",
    remedy="Put the value into quotes.",
    bad="""
        resources:
          text:
            type: OS::Heat::Value
            properties: {value: 22:30}  # here
        """,
    good="""
        resources:
          text:
            type: OS::Heat::Value
            properties: {value: "22:30"}
        """,
)
validation_rule(
    "odd-value",
    Group.CORRECTNESS,
    "A default is not read as its author expects.",
    severity=Severity.WARNING,
    why="An empty default is none, and functions are not called in defaults.",
    remedy='Remove the default, or write "" for empty text.',
    bad="""
        parameters:
          salt:
            type: string
            default:  # here
        resources:
          text: {type: OS::Heat::RandomString, properties: {salt: {get_param: salt}}}
        """,
    good="""
        parameters:
          salt:
            type: string
            default: ""
        resources:
          text: {type: OS::Heat::RandomString, properties: {salt: {get_param: salt}}}
        """,
)
validation_rule(
    "empty-range",
    Group.CORRECTNESS,
    "No value fits a constraint.",
    severity=Severity.WARNING,
    why="The minimum exceeds the maximum, so that no stack can be created.",
    remedy="Exchange them.",
    bad="""
        parameters:
          length:  # here
            type: number
            constraints: [{range: {min: 64, max: 8}}]
        resources:
          text: {type: OS::Heat::RandomString, properties: {length: {get_param: length}}}
        """,
    good="""
        parameters:
          length:
            type: number
            constraints: [{range: {min: 8, max: 64}}]
        resources:
          text: {type: OS::Heat::RandomString, properties: {length: {get_param: length}}}
        """,
)
validation_rule(
    "not-a-word",
    Group.CORRECTNESS,
    "An allowed value is a boolean where a word was meant.",
    severity=Severity.WARNING,
    why="YAML reads yes, no, on and off as booleans, so that the word is not allowed.",
    remedy="Put the words into quotes.",
    bad="""
        parameters:
          answer:  # here
            type: string
            constraints: [{allowed_values: [yes, maybe]}]
        resources:
          text: {type: OS::Heat::Value, properties: {value: {get_param: answer}}}
        """,
    good="""
        parameters:
          answer:
            type: string
            constraints: [{allowed_values: ["yes", maybe]}]
        resources:
          text: {type: OS::Heat::Value, properties: {value: {get_param: answer}}}
        """,
)
validation_rule(
    "invalid-parameter-declaration",
    Group.CORRECTNESS,
    "A default breaks the constraints of its parameter.",
    why="The template is refused, also for stacks that give another value.",
    remedy="Correct the default or the constraint.",
    bad="""
        parameters:
          size:
            type: string
            default: huge  # here
            constraints: [{allowed_values: [small, large]}]
        resources:
          text: {type: OS::Heat::RandomString}
        outputs:
          size: {value: {list_join: ["", [{get_param: size}, {get_resource: text}]]}}
        """,
    good="""
        parameters:
          size:
            type: string
            default: small
            constraints: [{allowed_values: [small, large]}]
        resources:
          text: {type: OS::Heat::RandomString}
        outputs:
          size: {value: {list_join: ["", [{get_param: size}, {get_resource: text}]]}}
        """,
)
validation_rule(
    "unknown-section",
    Group.CORRECTNESS,
    "A template has a section that its version does not have.",
    why="The template is refused.",
    remedy="Correct the name, or indent a resource below resources.",
    bad="""
        resource:  # here
          text: {type: OS::Heat::RandomString}
        """,
    good="""
        resources:
          text: {type: OS::Heat::RandomString}
        """,
)
validation_rule(
    "unknown-key",
    Group.CORRECTNESS,
    "A resource or a property has a key that it cannot have.",
    why="The template is refused.",
    remedy="Correct the key, or move it below properties.",
    bad="""
        resources:
          text:
            type: OS::Heat::RandomString
            propertys: {length: 8}  # here
        """,
    good="""
        resources:
          text:
            type: OS::Heat::RandomString
            properties: {length: 8}
        """,
)
validation_rule(
    "no-type",
    Group.CORRECTNESS,
    "A resource has no type.",
    why="The template is refused.",
    remedy="Add the type.",
    bad="""
        resources:
          text:  # here
            properties: {length: 8}
        """,
    good="""
        resources:
          text:
            type: OS::Heat::RandomString
            properties: {length: 8}
        """,
)
validation_rule(
    "circular-condition",
    Group.CORRECTNESS,
    "Conditions refer to each other in a circle.",
    why="None of them has a value.",
    remedy="Let one of them compare a parameter.",
    bad="""
        conditions:
          one: {not: other}  # here
          other: {not: one}  # here
        resources:
          text: {type: OS::Heat::RandomString, condition: one}  # here
        """,
    good="""
        parameters:
          size: {type: string}
        conditions:
          one: {equals: [{get_param: size}, large]}
          other: {not: one}
        resources:
          text: {type: OS::Heat::RandomString, condition: other}
        """,
)
validation_rule(
    "odd-space",
    Group.CORRECTNESS,
    "A character looks like a space and is none.",
    severity=Severity.WARNING,
    why="YAML makes it a part of the key, which nothing knows then.",
    remedy="Replace it by an ordinary space.",
    bad="""
        resources:
          text:
            type: OS::Heat::Value
            properties: {value: 1}
            metadata:
              \u00a0note: later  # here
        """,
    good="""
        resources:
          text:
            type: OS::Heat::Value
            properties: {value: 1}
            metadata:
              note: later
        """,
    also=("typographic-characters",),
)
