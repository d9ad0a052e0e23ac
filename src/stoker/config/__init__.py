"""The configuration: options, the files that set them, and what is wrong with these."""

from stoker.kernel.lazy import defer

# oslo.config needs it for options that are URIs, of which there are none here; it takes as long to
# load as all of oslo.config
defer("rfc3986")
