"""The configuration: options, the files that set them, and the faults of these files."""

from stoker.kernel.lazy import defer

# oslo.config needs it for options that are URIs, and there are none here. It takes as long to load
# as all of oslo.config.
defer("rfc3986")
