"""Parts of networks that several types use."""
