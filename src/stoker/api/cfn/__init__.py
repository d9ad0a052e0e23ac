"""The CloudFormation query API."""
