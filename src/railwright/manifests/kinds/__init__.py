"""Kinds of railwright.manifests."""
