"""A Subscription of ours that names no version, as files have it that were rendered without a catalog."""

from unit.plan.clusters import a_cluster, a_node, a_subscription, an_intent, an_object, hardware

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.core.marks import MANAGED_BY, MANAGED_BY_LABEL
from railwright.plan.model import OperatorShare
from railwright.plan.plan import plan


def test_what_olm_installed_then_counts_as_what_we_installed():
    made = {**a_subscription("nfd"), "status": {"installedCSV": "nfd.v4.19.0-1"}}
    made["metadata"] = {**made["metadata"], "labels": {MANAGED_BY_LABEL: MANAGED_BY}}
    group = an_object(kinds.OPERATOR_GROUP, "nfd", "openshift-nfd", spec={"targetNamespaces": ["openshift-nfd"]})
    decided = plan((an_intent(),), a_cluster((a_node(0, hardware()),), (made, group)), load_catalog())
    shares = [share for share in decided.shares if isinstance(share, OperatorShare) and share.package == "nfd"]
    assert [(share.csv, share.adopted) for share in shares] == [("nfd.v4.19.0-1", False)]
