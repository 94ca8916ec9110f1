"""
The shape of every payload, as models whose JSON Schemas are published in docs/reference/schemas.

A test holds real output of every command against them. Additions are allowed within a version, removals are not.
"""

from typing import Any

from railwright.report.schemas.base import Shape
from railwright.report.schemas.collect import CollectPayload
from railwright.report.schemas.doctor import DoctorPayload
from railwright.report.schemas.jobs import ApplyPayload, CleanPayload, StatusPayload
from railwright.report.schemas.plan import PlanPayload
from railwright.report.schemas.things import (
    DemoPayload,
    ExplanationPayload,
    FilesPayload,
    HardwarePayload,
    ImagesPayload,
    RbacPayload,
    SnapshotPayload,
    WorkloadPayload,
    WorldsPayload,
)
from railwright.report.schemas.verify import VerifyDiffPayload, VerifyPayload

PAYLOADS: dict[str, type[Shape]] = {
    "plan": PlanPayload,
    "snapshot": SnapshotPayload,
    "hardware": HardwarePayload,
    "apply": ApplyPayload,
    "status": StatusPayload,
    "clean": CleanPayload,
    "collect": CollectPayload,
    "doctor": DoctorPayload,
    "verify": VerifyPayload,
    "verify-diff": VerifyDiffPayload,
    "workload": WorkloadPayload,
    "images": ImagesPayload,
    "files": FilesPayload,
    "explanation": ExplanationPayload,
    "rbac": RbacPayload,
    "worlds": WorldsPayload,
    "demo": DemoPayload,
}
"""By the schema's name, without its version."""


def payload_schema(name: str) -> dict[str, Any]:
    """JSON Schema of a whole document: envelope and payload. Raises KeyError for an unknown name."""
    schema = PAYLOADS[name].model_json_schema()
    schema["properties"] = {
        "schema": {"const": f"railwright.dev/{name}/v1alpha1"},
        "railwright": {"type": "string"},
        "cluster": {"type": "string"},
        "simulated": {"type": "boolean"},
        "virtual": {"type": "boolean"},
        **schema["properties"],
    }
    schema["required"] = ["schema", "railwright", "cluster", "simulated", "virtual", *schema.get("required", [])]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
