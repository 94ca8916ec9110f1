"""What a step may do to what runs on a node."""

from enum import StrEnum


class Risk(StrEnum):
    """Mildest first."""

    NONE = "none"
    DRIVER_RELOAD = "driver reload"
    DRAIN = "drain"
    REBOOT = "reboot"

    @property
    def rank(self) -> int:
        """Order of harm: 0 is none."""
        return list(Risk).index(self)
