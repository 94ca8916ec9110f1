"""The JSON Schema of rails.yaml, for editors: types from shape.py, words from keys.py."""

from typing import Any

from railwright.intent.keys import children, row_of
from railwright.intent.shape import DocumentShape

SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"
SCHEMA_ID = "urn:railwright:schema:railfabric:v1alpha1"
"""A name and no address: editors tell schemas apart by it, and none fetches anything."""


def json_schema() -> dict[str, Any]:
    """Make the schema of one RailFabric document; it says less than the parser, never more."""
    raw = DocumentShape.model_json_schema(by_alias=True)
    schema = _filled(raw, raw.get("$defs", {}), "")
    return {
        "$schema": SCHEMA_DIALECT,
        "$id": SCHEMA_ID,
        "title": "RailFabric",
        "description": "One RailFabric of rails.yaml, as railwright reads it.",
        **{name: value for name, value in schema.items() if name not in {"title", "description"}},
    }


def _filled(schema: dict[str, Any], definitions: dict[str, Any], path: str) -> dict[str, Any]:
    """Write references out, drop null and generated titles, add descriptions, defaults in words, and what is required."""
    if "$ref" in schema:
        schema = definitions[str(schema["$ref"]).rpartition("/")[2]]
    if "anyOf" in schema:
        (only,) = [one for one in schema["anyOf"] if one.get("type") != "null"]
        schema = {**{name: value for name, value in schema.items() if name != "anyOf"}, **only}
        return _filled(schema, definitions, path)
    filled = {name: value for name, value in schema.items() if name not in {"title", "default", "description", "$defs"}}
    if "properties" in filled:
        filled["properties"] = {
            name: _described(_filled(one, definitions, _below(path, name)), _below(path, name))
            for name, one in filled["properties"].items()
        }
        required = [name for name in children(path) if row_of(_below(path, name)).required]
        if required:
            filled["required"] = required
    if "items" in filled:
        filled["items"] = _filled(filled["items"], definitions, f"{path}[]")
    if isinstance(filled.get("additionalProperties"), dict):
        filled["additionalProperties"] = _filled(filled["additionalProperties"], definitions, path)
    if isinstance(filled.get("propertyNames"), dict):
        filled["propertyNames"] = _filled(filled["propertyNames"], definitions, path)
    return _alternatives(filled, path)


def _alternatives(schema: dict[str, Any], path: str) -> dict[str, Any]:
    """Add the second way of writing for keys that have two."""
    if path == "spec.rails":
        return {"anyOf": [{"const": "auto"}, schema]}
    if path == "spec.network.subnets":
        return {"anyOf": [{"type": "string"}, schema]}
    if path.endswith(".gpu") and path.startswith(("spec.rails", "spec.groups")):
        return {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 63}, schema]}
    return schema


def _described(schema: dict[str, Any], path: str) -> dict[str, Any]:
    key = row_of(path)
    told = key.meaning
    if key.allowed_text:
        told += f" Allowed: {key.allowed_text}."
    if key.unit:
        told += f" Unit: {key.unit}."
    if key.default:
        told += f" Default: {key.default} ({key.why})."
    return {"description": told, **schema}


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
