"""What the shapes of all payloads have in common."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

VerdictText = Literal["PASS", "FAIL", "SKIP", "UNKNOWN", "PROGRESSING"]


class Shape(BaseModel):
    """Base: nothing that is not named here."""

    model_config = ConfigDict(extra="forbid")


class ObjectName(Shape):
    """A reference to an object; namespace is null for cluster-scoped kinds."""

    apiVersion: str  # noqa: N815 - as manifests spell it
    kind: str
    namespace: str | None
    name: str
