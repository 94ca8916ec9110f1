"""
Requests and replies as JSON and back; a text that does not fit the types is refused, never guessed at.

It is written so that little is done twice: in the lab an emulated processor, 50 times as slow, runs it for each half.
"""

import dataclasses
import functools
import json
import types
import typing
from typing import Any, TypeVar

from railwright.dataplane.model import (
    EngineRequest,
    EvidenceRequest,
    NcclRequest,
    NixlRequest,
    PerftestRequest,
    Reply,
    Request,
)

PROBES: dict[str, type] = {
    "engine": EngineRequest,
    "perftest": PerftestRequest,
    "nixl": NixlRequest,
    "nccl": NcclRequest,
    "evidence": EvidenceRequest,
}
"""The name of each probe on the wire."""

_T = TypeVar("_T")


def probe_of(request: Request) -> str:
    """Name the probe that a request is for."""
    return next(name for name, shape in PROBES.items() if isinstance(request, shape))


def request_text(request: Request) -> str:
    """Write a request as one line of JSON."""
    return json.dumps({"probe": probe_of(request), **vars(request)}, default=vars, separators=(",", ":"))


def read_request(text: str) -> Request:
    """
    Read a request.

    Raises:
        ValueError: not JSON, no such probe, an unknown or missing key, a value of another type.
    """
    fields = json.loads(text)
    if not isinstance(fields, dict) or fields.get("probe") not in PROBES:
        raise ValueError(f"not a request: expected an object with probe, one of {', '.join(PROBES)}")
    shape = PROBES[fields.pop("probe")]
    request: Request = _value(shape, fields, "request")
    return request


def reply_text(reply: Reply) -> str:
    """Write a reply as one line of JSON."""
    return json.dumps(reply, default=vars, separators=(",", ":"))


def read_reply(text: str) -> Reply:
    """
    Read a reply.

    Raises:
        ValueError: as for requests.
    """
    return as_type(Reply, json.loads(text))


def as_type(shape: type[_T], value: object) -> _T:
    """
    Turn plain JSON values into a frozen dataclass of this package.

    Raises:
        ValueError: an unknown or missing key, a value of another type; the message says where.
    """
    result: _T = _value(shape, value, shape.__name__.lower())
    return result


def _value(shape: Any, value: Any, where: str) -> Any:
    origin = typing.get_origin(shape)
    arguments = typing.get_args(shape)
    if dataclasses.is_dataclass(shape):
        return _record(shape, value, where)
    if origin in {types.UnionType, typing.Union}:
        return _one_of(arguments, value, where)
    if origin is typing.Literal:
        return _expect(value in arguments, value, where, " or ".join(map(repr, arguments)))
    if origin is tuple:
        _expect(isinstance(value, list | tuple), value, where, "a list")
        return tuple(_value(arguments[0], each, f"{where}[{index}]") for index, each in enumerate(value))
    if origin is dict:
        _expect(isinstance(value, dict), value, where, "an object")
        return {key: _value(arguments[1], each, f"{where}.{key}") for key, each in value.items()}
    return _plain(getattr(shape, "__supertype__", shape), value, where)


@functools.cache
def _hints(shape: Any) -> dict[str, Any]:
    return typing.get_type_hints(shape)


def _record(shape: Any, value: Any, where: str) -> Any:
    _expect(isinstance(value, dict), value, where, "an object")
    hints = _hints(shape)
    unknown = sorted(set(value) - set(hints))
    _expect(not unknown, unknown, where, "only known keys")
    try:
        return shape(**{key: _value(hints[key], each, f"{where}.{key}") for key, each in value.items()})
    except TypeError as error:
        raise ValueError(f"{where}: {error}") from error


def _one_of(shapes: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None:
        return _expect(type(None) in shapes, value, where, "a value")
    return _value(next(shape for shape in shapes if shape is not type(None)), value, where)


def _plain(shape: Any, value: Any, where: str) -> Any:
    if shape is float:
        return float(_expect(isinstance(value, int | float) and not isinstance(value, bool), value, where, "a number"))
    fits = isinstance(value, shape) and (shape is bool or not isinstance(value, bool))
    return _expect(fits, value, where, shape.__name__)


def _expect(holds: bool, value: Any, where: str, expected: str) -> Any:
    if not holds:
        raise ValueError(f"{where}: expected {expected}, got {value!r}")
    return value
