"""The metric service: the API of Gnocchi, version 1, with measures of the cloud's own servers."""
