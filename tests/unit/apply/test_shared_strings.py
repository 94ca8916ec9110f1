"""A string with entries of several owners is written without consent as long as no entry of others is overwritten."""

import json

import pytest
from unit.apply.fake_world import FakeCluster, an_object
from unit.apply.stage_builders import a_manifest, carry_out, speaking_judges, stage_for

from railwright.core import kinds
from railwright.core.objects import Ref
from railwright.core.verdicts import Verdict

POLICY = Ref(kinds.NIC_CLUSTER_POLICY, "", "nic-cluster-policy")
EMBEDDED = (("spec.rdmaSharedDevicePlugin.config", "rdma-shared"),)


@pytest.fixture(autouse=True)
def _judges(monkeypatch):
    speaking_judges(monkeypatch)


def a_pool(name, count=1):
    return {"resourceName": name, "rdmaHcaMax": count}


def a_policy(*pools, **spec):
    config = json.dumps({"configList": list(pools)})
    return an_object(
        kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy", spec={"rdmaSharedDevicePlugin": {"config": config}, **spec}
    )


def with_theirs(*pools, **spec):
    cluster = FakeCluster()
    cluster.put(a_policy(*pools, **spec), manager="argocd")
    return cluster


def pools_of(cluster):
    config = cluster.find(POLICY)["spec"]["rdmaSharedDevicePlugin"]["config"]
    return {item["resourceName"]: item["rdmaHcaMax"] for item in json.loads(config)["configList"]}


async def applied(cluster, *pools, dry_run=False, **spec):
    manifest = a_manifest(a_policy(*pools, **spec), embedded=EMBEDDED, partial=True)
    return await carry_out(cluster, await stage_for(cluster, [manifest], dry_run=dry_run))


@pytest.mark.parametrize("dry_run", [False, True])
async def test_our_entries_join_theirs_without_consent(dry_run):
    cluster = with_theirs(a_pool("theirs"))
    record = await applied(cluster, a_pool("ours"), dry_run=dry_run)
    assert record.verdict is Verdict.PASS
    assert pools_of(cluster) == ({"theirs": 1} if dry_run else {"theirs": 1, "ours": 1})


@pytest.mark.parametrize("dry_run", [False, True])
async def test_an_entry_of_theirs_with_another_value_is_not_overwritten(dry_run):
    cluster = with_theirs(a_pool("shared", 1))
    record = await applied(cluster, a_pool("shared", 2), dry_run=dry_run)
    assert (record.verdict, pools_of(cluster)) == (Verdict.FAIL, {"shared": 1})
    assert "argocd" in record.reason


async def test_another_field_of_theirs_in_the_same_write_is_not_overwritten():
    cluster = with_theirs(a_pool("theirs"), other="theirs")
    record = await applied(cluster, a_pool("ours"), other="ours")
    assert record.verdict is Verdict.FAIL
    assert (pools_of(cluster), cluster.find(POLICY)["spec"]["other"]) == ({"theirs": 1}, "theirs")
