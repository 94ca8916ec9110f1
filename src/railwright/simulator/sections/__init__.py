"""The sections of a simulated node record, one file a subject; their format: railwright.facts.sources."""
