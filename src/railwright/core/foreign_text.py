"""
JSON and YAML that anybody on the cluster may have written: in annotations, NADs, ConfigMaps, policies.

Such text fails in more ways than as wrong syntax: five thousand brackets exhaust Python's stack, and a date that is none
is no error of YAML's. Here each of them is a ValueError, so that nobody's annotation ends a command for everybody.
"""

import json
from typing import Any

import yaml

_TOO_DEEP = "it is nested too deeply"


def parse_json(text: str) -> Any:
    """Read JSON. Raises ValueError for what is none, or is nested too deeply to be read."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error


def parse_yaml(text: str) -> Any:
    """Read YAML; None for empty text. Raises ValueError for what is none, or is nested too deeply to be read."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
