"""nvidia-peermem is built against the NIC's driver: another version of that makes another form of the GPU driver's pods."""

import pytest
from unit.plan.clusters import a_cluster, a_node, an_intent, hardware

from railwright.catalog.load import load_catalog
from railwright.intent.model import DriverIntent, GpuMemory
from railwright.plan.model import GpuPolicyShare
from railwright.plan.plan import plan

VERSION = "doca3.3.0-26.01-1.0.0.0-0"


@pytest.mark.parametrize(
    ("memory", "named"), [(GpuMemory.PEERMEM, {"RAILWRIGHT_BUILT_AGAINST": VERSION}), (GpuMemory.DMA_BUF, {})]
)
def test_the_nic_driver_is_named_in_the_gpu_drivers_pods_where_peermem_is_built_against_it(memory, named):
    intent = an_intent(driver=DriverIntent(memory=memory, nic_version=VERSION))
    made = plan((intent,), a_cluster((a_node(0, hardware()),)), load_catalog())
    (share,) = [item for item in made.shares if isinstance(item, GpuPolicyShare)]
    assert dict(share.environment) == named
