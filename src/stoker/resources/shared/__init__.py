"""Parts that types of several services share."""
