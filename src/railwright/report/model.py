"""The Document: one result, ready for any format."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from railwright.core.marks import is_virtual
from railwright.core.version import __version__


@dataclass(frozen=True)
class Document:
    """
    One result.

    Attributes:
        schema: name of the payload's JSON Schema: "plan/v1alpha1".
        cluster: what the person called the cluster; an archive of the virtual cluster has that in its name.
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

    @property
    def virtual(self) -> bool:
        """Whether it comes of the virtual cluster, live or archived: shown wherever the result is."""
        return is_virtual(self.cluster)

    def as_data(self) -> dict[str, Any]:
        """The envelope with the payload's keys beside it."""
        return {
            "schema": f"railwright.dev/{self.schema}",
            "railwright": __version__,
            "cluster": self.cluster,
            "simulated": self.simulated,
            "virtual": self.virtual,
            **self.payload,
        }
