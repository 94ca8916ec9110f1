"""What runs inside a virtual node and is not a package's: its first processes, its settings, and three shims."""
