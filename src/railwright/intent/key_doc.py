"""What is said of one key of rails.yaml, and the bounds that more than one place needs."""

from dataclasses import dataclass, replace

API_VERSION = "railwright.dev/v1alpha1"
KIND = "RailFabric"

PACKAGES = ("nfd", "sriov-network-operator", "nvidia-network-operator", "gpu-operator-certified")
"""OLM packages of the four operators; the same as in the catalog, which a test holds it to."""

MAX_NAME = 40
"""Of a fabric and of resourcePrefix: with the longest rail name it still fits a resource name (63 characters)."""
MAX_RAIL_NAME = 20
MTU_RANGE = (576, 9216)
MAX_MTU_INFINIBAND = 4092
MAX_VFS = 128
MAX_VFS_INFINIBAND = 16
MAX_PODS = 1000
MAX_NODE_PREFIX = 125
"""Longest subnet of one node (IPv6): eight addresses hold a router and some pods."""
PATH_MTUS = (256, 512, 1024, 2048, 4096)


@dataclass(frozen=True)
class KeyDoc:
    """
    What one key means.

    Attributes:
        path: "spec.network.mtu"; "[]" stands for any index: "spec.rails[].name".
        type: in words: "integer", "string", "list of strings".
        allowed_text: what it may hold: "576 to 9216", "shared, host-device or sriov"; empty for anything of the type.
        choices: the words to choose from, where there are such.
        unit: empty where the value has none.
        default: the value when the key is left out; empty for keys that must be written.
        why: the reason of that default.
        example: as it stands in a file.
        required: must be written wherever its parent is.
        item: what one item of a list, or one value of a map, may hold.
    """

    path: str
    type: str
    meaning: str
    allowed_text: str = ""
    choices: tuple[str, ...] = ()
    unit: str = ""
    default: str = ""
    why: str = ""
    example: str = ""
    required: bool = False
    item: str = ""

    @property
    def allowed(self) -> tuple[str, ...]:
        """What it may hold, item by item: the words to choose from, or one item in words."""
        return self.choices or ((self.allowed_text,) if self.allowed_text else ())

    @property
    def expected(self) -> str:
        """What a mistake says that was expected."""
        return self.allowed_text or self.type


def choice(path: str, choices: tuple[str, ...], meaning: str, **rest: str) -> KeyDoc:
    """Make the row of a key that holds one of some words."""
    allowed = f"{', '.join(choices[:-1])} or {choices[-1]}" if len(choices) > 1 else choices[0]
    return KeyDoc(path, "string", meaning, allowed, choices, **rest)  # type: ignore[arg-type]  # the rest are strings


def must(key: KeyDoc) -> KeyDoc:
    """Make a row required."""
    return replace(key, required=True)
