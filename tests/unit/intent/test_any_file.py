"""Properties: any document round-trips, and any bytes end as an intent or as an error of ours."""

import json
from pathlib import Path

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from railwright.core.errors import UsageError
from railwright.intent.keys import children
from railwright.intent.parse import parse_intents, read_intents

QUICK = settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

NAMES = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
LABEL_VALUES = st.one_of(
    st.sampled_from(["no", "on", "true", "null", "1e3", "0x1f", "0o7", "017", "1_0", "", "2024-01-01", "y", "1.0"]),
    st.from_regex(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,8}[A-Za-z0-9])?", fullmatch=True),
)
PCI = st.builds("{:04x}:{:02x}:{:02x}.{}".format, *[st.integers(0, 255)] * 2, st.integers(0, 31), st.integers(0, 7))


def optional(**keys):
    return st.fixed_dictionaries({}, optional=keys)


@st.composite
def rails(draw):
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    kinds = draw(st.sampled_from(["pciAddress", "netdev"]))
    values = draw(
        st.lists(PCI if kinds == "pciAddress" else NAMES, min_size=len(names), max_size=len(names), unique=True)
    )
    gpus = [draw(optional(gpu=st.one_of(st.integers(0, 63), PCI))) for _ in names]
    return [{"name": name, kinds: value, **gpu} for name, value, gpu in zip(names, values, gpus, strict=True)]


NODES = st.one_of(
    st.fixed_dictionaries({"names": st.lists(NAMES, min_size=1, max_size=3, unique=True)}),
    st.fixed_dictionaries({"labels": st.dictionaries(NAMES, LABEL_VALUES, min_size=1, max_size=3)}),
)
SPEC = st.fixed_dictionaries(
    {"method": st.just("sriov"), "fabric": st.just("infiniband")},
    optional={
        "nodes": NODES,
        "rails": st.one_of(st.just("auto"), rails()),
        "groups": st.lists(st.fixed_dictionaries({"nodes": NODES, "rails": rails()}), min_size=1, max_size=1),
        "network": st.fixed_dictionaries(
            {"subnets": st.sampled_from(["10.0.0.0/8", ["10.0.0.0/8", "fd00::/48"]])},
            optional={
                "mtu": st.integers(1280, 4092),
                "ipam": st.sampled_from(["nv-ipam", "whereabouts"]),
                "gateway": st.booleans(),
                "routes": st.just([{"destination": "10.0.0.0/8", "gateway": "10.0.0.1"}]),
                "pkey": st.integers(1, 0x7FFF).map(hex),
                "guid": st.sampled_from(["auto", "pool"]),
                "exclude": st.just(["10.1.0.0/16", "10.0.0.1"]),
            },
        ),
        "driver": optional(
            nic=st.just("doca"),
            memory=st.sampled_from(["dma-buf", "nvidia-peermem"]),
            gdrcopy=st.booleans(),
            gds=st.booleans(),
            gpuVersion=st.just("580.95.05"),
        ),
        "operators": optional(
            approval=st.sampled_from(["Manual", "Automatic"]),
            channels=st.dictionaries(st.sampled_from(["nfd", "gpu-operator-certified"]), NAMES, max_size=2),
        ),
        "upgrade": optional(auto=st.booleans(), maxParallel=st.integers(1, 9), drainTimeoutSeconds=st.integers(0, 99)),
        "workloadNamespaces": st.lists(NAMES, max_size=3, unique=True),
        "vfsPerRail": st.integers(1, 16),
        "rdmaIsolation": st.booleans(),
        "pathMtu": st.sampled_from([256, 512, 1024]),
        "resourcePrefix": NAMES,
        "tolerations": st.lists(st.fixed_dictionaries({"key": NAMES, "value": LABEL_VALUES}), max_size=2),
        "pullSecret": NAMES,
        "imageRegistry": st.sampled_from(["mirror.example.com", "mirror:5000/a/b"]),
        "numaAligned": st.booleans(),
    },
)


@settings(QUICK, max_examples=15)
@given(name=NAMES, spec=SPEC)
def test_any_right_document_round_trips(name, spec):
    document = {
        "apiVersion": "railwright.dev/v1alpha1",
        "kind": "RailFabric",
        "metadata": {"name": name},
        "spec": spec,
    }
    # JSON is YAML with every string in quotes.
    (intent,) = parse_intents(json.dumps(document))
    (again,) = parse_intents(intent.document)
    assert again == intent
    assert again.document == intent.document


def _refusal(read):
    """What was said against it; empty when it was read. Any other error goes through, and fails the test."""
    try:
        read()
    except UsageError as error:
        return error.message
    return ""


def _reads_or_refuses(text):
    lines = _refusal(lambda: parse_intents(text, "f.yaml")).splitlines()
    assert all(line.startswith("f.yaml:") for line in lines)


@QUICK
@given(st.binary(max_size=300))
def test_any_bytes_end_as_an_error_of_ours(tmp_path: Path, content):
    file = tmp_path / "rails.yaml"
    file.write_bytes(content)
    assert str(file) in _refusal(lambda: read_intents(file))


@QUICK
@given(st.text(max_size=300))
def test_any_text_ends_as_an_error_of_ours(text):
    _reads_or_refuses(text)


KEYS_AND_MORE = st.sampled_from(
    ["spec", "metadata", "name", "rails", "network", "subnets", "labels", "nodes", "driver", "x y", "groups", "routes"]
)
ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.just("10.0.0.0/8%1")),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS_AND_MORE, inner, max_size=4)),
    max_leaves=15,
)


@QUICK
@given(spec=st.dictionaries(st.sampled_from(children("spec")) | KEYS_AND_MORE, ANYTHING, max_size=6))
def test_any_wrong_document_ends_as_an_error_of_ours(spec):
    document = {"apiVersion": "railwright.dev/v1alpha1", "kind": "RailFabric", "metadata": {"name": "a"}, "spec": spec}
    _reads_or_refuses(yaml.safe_dump(document, sort_keys=False))


MUTATED = st.tuples(st.integers(0, 400), st.sampled_from(list("\t:-[]{}&*!|>'\"%@`,#?~\n \\é\x00<")))


@QUICK
@given(st.lists(MUTATED, min_size=1, max_size=6))
def test_any_damage_to_a_right_file_ends_as_an_error_of_ours(damage):
    text = (
        "apiVersion: railwright.dev/v1alpha1\nkind: RailFabric\nmetadata: {name: east-west}\nspec:\n"
        "  method: sriov\n  fabric: roce\n  rails:\n  - {name: rail0, netdev: ens1, gpu: 0}\n"
        "  network: {subnets: [192.168.0.0/16, 'fd00::/48'], mtu: 9000, routes: [{destination: 10.0.0.0/8}], gateway: true}\n"
        "  nodes: {labels: {a: 'b'}}\n"
    )
    for position, character in damage:
        text = text[:position] + character + text[position + 1 :]
    _reads_or_refuses(text)
