"""The network service: Neutron's API v2.0 over the fabric of this machine."""
