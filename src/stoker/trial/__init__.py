"""The service in this process without a cloud, for tests of templates."""
