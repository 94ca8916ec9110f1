"""Nodes on which the way between GPU and NIC is longer than it need be: told, and nobody kept out."""

import pytest
from unit.plan.clusters import a_cluster, a_gpu, a_node, a_port, an_intent, hardware

from railwright.catalog.load import load_catalog
from railwright.core.ids import PciAddress
from railwright.facts.model import PciBridge
from railwright.facts.node_model import AcsState, IommuState, PciConfig, Processor
from railwright.plan.plan import plan

CATALOG = load_catalog()
BELOW, SHARED = a_port(0).pci_path[-2], a_port(0).pci_path[1]
VIRTUAL = Processor(under_hypervisor=True)


def warned(**inside):
    made = plan((an_intent(),), a_cluster((a_node(0, hardware(**inside)),)), CATALOG)
    assert made.admitted == ("worker-0",)
    return {item.code for item in made.warnings}


def a_bridge(pci, control):
    config = PciConfig(extended_read=True, acs=AcsState(0x5F, control))
    return PciBridge(PciAddress(pci), "1000", "c010", (), "pci0000:10", 0, "pcieport", config=config)


@pytest.mark.parametrize(
    ("pci", "control", "more", "told"),
    [
        (BELOW, 0x0C, {}, True),
        (BELOW, 0x00, {}, False),
        (SHARED, 0x0C, {}, False),
        (BELOW, 0x0C, {"processor": VIRTUAL}, False),
    ],
)
def test_bridges_that_redirect_between_a_gpu_and_its_nic_are_told(pci, control, more, told):
    assert a_gpu(0).pci_path[1] == SHARED
    assert ("acs-redirects" in warned(bridges=(a_bridge(pci, control),), **more)) == told


@pytest.mark.parametrize(
    ("state", "more", "told"),
    [
        (IommuState(present=True, default_type="DMA-FQ"), {}, True),
        (IommuState(present=True, default_type="identity"), {}, False),
        (IommuState(present=None), {}, False),
        (IommuState(present=True, default_type="DMA"), {"architecture": "aarch64"}, False),
        (IommuState(present=True, default_type="DMA"), {"processor": VIRTUAL}, False),
    ],
)
def test_translation_is_told_where_passthrough_is_wanted(state, more, told):
    assert ("iommu-translates" in warned(iommu=state, **more)) == told
