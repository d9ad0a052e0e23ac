"""Every resource type on OpenStack's own services: ``make test-openstack``."""
