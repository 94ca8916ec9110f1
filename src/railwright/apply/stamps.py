"""Moments as text: RFC 3339 in UTC, as Kubernetes writes them."""

from datetime import UTC, datetime


def to_stamp(moment: datetime) -> str:
    """Write a moment: "2026-11-30T07:00:00.250000Z"."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def from_stamp(text: str) -> datetime | None:
    """Read a moment; None for what is none, so that a damaged stamp counts as unknown."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
