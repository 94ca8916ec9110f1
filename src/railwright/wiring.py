"""The only file that picks the world: adapters, simulator or lab."""
