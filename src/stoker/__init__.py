"""Stoker: orchestration for OpenStack, compatible with Heat's templates, API and clients."""

__version__ = "0.1.0"
