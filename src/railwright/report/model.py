"""The Document: one result, ready for any format."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from railwright.core.version import __version__


@dataclass(frozen=True)
class Document:
    """
    One result.

    Attributes:
        schema: name of the payload's JSON Schema: "plan/v1alpha1".
        cluster: what the person called the cluster.
        simulated: nothing of it is real; shown wherever the result is.
        payload: JSON-ready; its keys stand beside the envelope's.
        text: the same for people.
        exit_code: of the command that gives it.
        is_yaml: the text is YAML that people pipe on: what is said around it must be a comment.
    """

    schema: str
    cluster: str
    simulated: bool
    payload: Mapping[str, Any]
    text: str = ""
    exit_code: int = 0
    is_yaml: bool = False

    def as_data(self) -> dict[str, Any]:
        """The envelope with the payload's keys beside it."""
        return {
            "schema": f"railwright.dev/{self.schema}",
            "railwright": __version__,
            "cluster": self.cluster,
            "simulated": self.simulated,
            **self.payload,
        }
