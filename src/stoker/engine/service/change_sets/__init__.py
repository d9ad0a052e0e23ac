"""Change sets of CloudFormation."""
