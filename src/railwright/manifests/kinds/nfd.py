"""NodeFeatureDiscovery: which PCI classes become node labels, and by which field."""

from typing import Any

import yaml

from railwright.core.kinds import NODE_FEATURE_DISCOVERY
from railwright.manifests.assemble import a_manifest, an_object, plain, without_empty
from railwright.manifests.model import Manifest
from railwright.plan.model import NfdShare

SERVICE_PORT = 12000
"""Port between NFD's master and workers, as the operator's own example has it (OpenShift 4.22 bundle, 2026-08)."""

EMBEDDED = (("spec.workerConfig.configData", "nfd-config"),)


def feature_discovery(share: NfdShare) -> tuple[Manifest, ...]:
    """Render the one instance; of an existing one only the entries of its worker configuration."""
    worker = {"workerConfig": {"configData": _worker_config(share)}}
    spec: dict[str, Any] = worker if share.adopted else {"instance": "", "operand": _operand(share), **worker}
    obj = an_object(NODE_FEATURE_DISCOVERY, share.name, namespace=share.namespace, ours=not share.adopted, spec=spec)
    return (a_manifest(obj, share.stage, embedded=EMBEDDED, partial=share.adopted),)


def _operand(share: NfdShare) -> dict[str, Any]:
    return without_empty(
        {
            "image": share.operand_image,
            "imagePullPolicy": "IfNotPresent",
            "servicePort": SERVICE_PORT,
            "workerTolerations": plain(share.tolerations),
        }
    )


def _worker_config(share: NfdShare) -> str:
    """
    Write the worker's configuration as YAML text.

    Sample:
        sources:
          pci:
            deviceClassWhitelist: ['02', '03']
            deviceLabelFields: [vendor]
    """
    pci = {
        "deviceClassWhitelist": plain(share.class_whitelist),
        "deviceLabelFields": plain(share.label_fields),
    }
    return yaml.safe_dump({"sources": {"pci": pci}}, default_flow_style=None, sort_keys=True)
