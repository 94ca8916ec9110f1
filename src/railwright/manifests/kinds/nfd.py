"""NodeFeatureDiscovery: which PCI classes become node labels, and by which field."""

from typing import Any

import yaml

from railwright.core.kinds import NODE_FEATURE_DISCOVERY
from railwright.manifests.assemble import a_manifest, an_object, plain, without_empty
from railwright.manifests.model import Manifest
from railwright.plan.model import FeatureLabel, FeatureRuleShare, NfdShare

SERVICE_PORT = 12000
"""Port between NFD's master and workers, as the operator's own example has it (OpenShift 4.22 bundle, 2026-08)."""

LABEL_PREFIX = "feature.node.kubernetes.io/"

EMBEDDED = (("spec.workerConfig.configData", "nfd-config"),)


def feature_discovery(share: NfdShare) -> tuple[Manifest, ...]:
    """Render the one instance; of an existing one only entries of its worker configuration, and tolerations."""
    worker = {"workerConfig": {"configData": _worker_config(share)}} if share.label_fields else {}
    if share.adopted:
        tolerations = without_empty({"workerTolerations": plain(share.tolerations)})
        spec: dict[str, Any] = without_empty({"operand": tolerations, **worker})
    else:
        spec = {"instance": "", "operand": _operand(share), **worker}
    if not spec:
        return ()
    obj = an_object(NODE_FEATURE_DISCOVERY, share.name, namespace=share.namespace, ours=not share.adopted, spec=spec)
    return (a_manifest(obj, share.stage, embedded=EMBEDDED if worker else (), partial=share.adopted),)


def feature_rule(share: FeatureRuleShare) -> tuple[Manifest, ...]:
    """Render labels that NFD's own configuration does not give."""
    rules = [
        {"name": label.name, "labels": {LABEL_PREFIX + label.name: "true"}, **_matches(label)} for label in share.labels
    ]
    obj = an_object(share.kind, share.name, namespace=share.namespace, spec={"rules": rules})
    return (a_manifest(obj, share.stage),)


def _matches(label: FeatureLabel) -> dict[str, Any]:
    wanted = {
        name: {"op": operator, "value": plain(values)} for name, (operator, values) in sorted(label.device.items())
    }
    return {"matchFeatures": [{"feature": "pci.device", "matchExpressions": wanted}]}


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
