"""Controlplane of railwright.lab."""
