"""All six configurations as YAML; RAILWRIGHT_UPDATE_GOLDEN=1 writes them anew, the diff is reviewed."""

import os
from pathlib import Path

import pytest
from unit.manifests.plans import CONFIGURATIONS, a_plan

from railwright.intent.model import Fabric, Method
from railwright.manifests.model import Manifest
from railwright.manifests.render import render
from railwright.manifests.yamltext import to_yaml

GOLDEN = Path(__file__).parents[2] / "golden" / "manifests"


def as_text(item: Manifest) -> str:
    facts = [f"stage {item.stage}", f"fabrics {', '.join(item.fabrics) or 'all'}"]
    facts += [f"{path} holds {name} entries" for path, name in item.embedded]
    facts += ["partial"] if item.partial else []
    return f"# {'; '.join(facts)}\n{to_yaml(item.obj)}"


@pytest.mark.parametrize(("method", "fabric"), CONFIGURATIONS)
def test_a_configuration_renders_as_reviewed(method: Method, fabric: Fabric) -> None:
    text = "---\n".join(as_text(item) for item in render(a_plan(method, fabric)).items)
    path = GOLDEN / f"{method}-{fabric}.yaml"
    if os.environ.get("RAILWRIGHT_UPDATE_GOLDEN") == "1":
        path.write_text(text)
    assert text == path.read_text()
