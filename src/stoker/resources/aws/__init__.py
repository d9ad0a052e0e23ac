"""Types under the names that CloudFormation gave them."""
