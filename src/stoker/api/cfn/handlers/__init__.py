"""Handlers of the CloudFormation API, by subject."""
