"""One process of the service, assembled from its parts."""
