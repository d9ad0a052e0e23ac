"""Parts of good templates that resemble mistakes have no findings at the default level."""

from __future__ import annotations

import pytest

from stoker.cli.authoring.lint.linter import lint
from stoker.cli.authoring.lint.settings import Settings
from stoker.template.source.source import read

HEAD = "heat_template_version: 2021-04-16\n"
SERVER = "type: OS::Nova::Server\n    properties: {image: a, flavor: b, networks: [{port: web}]"
GOOD = {
    "a choice between lists of rules": """
parameters: {extra: {type: boolean, default: false}}
conditions: {has_extra: {equals: [{get_param: extra}, true]}}
resources:
  web:
    type: OS::Neutron::SecurityGroup
    properties:
      rules:
        if:
          - has_extra
          - - {protocol: tcp, port_range_min: 80, port_range_max: 80}
            - {protocol: tcp, port_range_min: 443, port_range_max: 443}
          - - {protocol: tcp, port_range_min: 80, port_range_max: 80}
  port:
    type: OS::Neutron::Port
    properties: {network: a, security_groups: [{get_resource: web}]}
""",
    "names that contain words of secrets": """
parameters:
  token_ttl: {type: number, default: 3600}
  password_length: {type: number, default: 16}
  ssh_key_name: {type: string, default: operators}
  secret_ref: {type: string, default: "https://keys/v1/secrets/1"}
  public_key: {type: string, default: ssh-rsa AAAA}
resources:
  values:
    type: OS::Heat::Value
    properties:
      value:
        - {get_param: token_ttl}
        - {get_param: password_length}
        - {get_param: ssh_key_name}
        - {get_param: secret_ref}
        - {get_param: public_key}
""",
    "a placeholder that no YAML text can start with": f"""
parameters: {{motd: {{type: string, default: ""}}}}
resources:
  server:
    {SERVER}, user_data: {{get_resource: init}}}}
  init:
    type: OS::Heat::SoftwareConfig
    properties:
      config:
        str_replace:
          params: {{"%%motd%%": {{get_param: motd}}}}
          template: |
            #cloud-config
            final_message: %%motd%%
""",
    "numbers with a zero or an exponent in places for numbers": """
resources:
  busy:
    type: OS::Aodh::GnocchiAggregationByResourcesAlarm
    properties:
      metric: cpu
      resource_type: instance
      query: '{"=": {"server_group": "web"}}'
      aggregation_method: mean
      threshold: 0.50
      alarm_actions: ["https://hooks.example.org/busy"]
""",
    "a hidden parameter that is no secret in an output": """
parameters: {image: {type: string, default: debian, hidden: true}}
outputs: {image: {value: {list_join: ["", [{get_param: image}]]}}}
resources: {text: {type: OS::Heat::RandomString}}
""",
    "a handle that a nested template waits for": """
resources:
  handle: {type: OS::Heat::WaitConditionHandle}
  inner: {type: inner.yaml, properties: {handle: {get_resource: handle}}}
""",
    "a group for servers of other stacks": """
resources:
  web: {type: OS::Neutron::SecurityGroup, properties: {name: web}}
  address: {type: OS::Neutron::FloatingIP, properties: {floating_network: public}}
""",
    "a parameter whose name a function computes": """
parameters: {which: {type: string}, small: {type: string}, large: {type: string}}
resources:
  text: {type: OS::Heat::Value, properties: {value: {get_param: {get_param: which}}}}
""",
    "commands that need no answer": f"""
resources:
  server:
    {SERVER}, user_data: {{get_resource: init}}}}
  init:
    type: OS::Heat::SoftwareConfig
    properties:
      config: |
        #!/bin/bash
        # apt-get install nginx
        export DEBIAN_FRONTEND=noninteractive
        apt-get -qq update && apt-get -qq -y install nginx
        yum -q -y install httpd
        zypper -n install apache2
        echo "try apt-get install nginx"
        curl -fsS http://169.254.169.254/latest/meta-data/hostname
        curl -fsSL https://example.org/key.asc | gpg --dearmor
        wget -q https://example.org/a.tgz -O - | tar xz
        echo ready | tee /root/state
""",
    "a health alarm that acts on its own": """
resources:
  group:
    type: OS::Heat::AutoScalingGroup
    properties: {min_size: 1, max_size: 2, resource: {type: OS::Heat::RandomString}}
  health:
    type: OS::Aodh::LBMemberHealthAlarm
    properties:
      {pool: web, stack: {get_param: "OS::stack_id"}, autoscaling_group_id: {get_resource: group}}
""",
    "a port of the internal network": """
parameters: {admins: {type: string}}
resources:
  ssh:
    type: OS::Neutron::SecurityGroup
    properties:
      rules:
        - {protocol: tcp, port_range_min: 22, port_range_max: 22, remote_ip_prefix: 10.0.0.0/8}
        - protocol: tcp
          port_range_min: 3389
          port_range_max: 3389
          remote_ip_prefix: {get_param: admins}
        - {remote_mode: remote_group_id}
        - {direction: egress}
        - {protocol: icmp}
  port:
    type: OS::Neutron::Port
    properties: {network: a, security_groups: [{get_resource: ssh}]}
""",
    "a placeholder inside the value of another one": """
parameters: {host: {type: string}}
resources:
  text:
    type: OS::Heat::Value
    properties:
      value:
        str_replace:
          template: get $url
          params: {$url: "https://$host/", $host: {get_param: host}}
""",
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_good_part_has_no_findings(text: str) -> None:
    assert lint(read(f"{HEAD}{text}", "app.yaml"), Settings()) == []


def test_mapping_to_type_of_another_environment_is_accepted() -> None:
    text = 'resource_registry: {"OS::My::Net": "OS::My::Network", "OS::My::Port": OS::Heat::None}'
    assert lint(read(text, "app.yaml"), Settings()) == []
