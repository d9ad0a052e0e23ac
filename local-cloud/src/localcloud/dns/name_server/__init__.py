"""A name server that answers from the documents of zones."""
