"""The quick reader of YAML never disagrees with the whole parser: it agrees, or leaves the text to it."""

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from railwright.adapters.archive.block_yaml import Unusual, from_block
from railwright.adapters.archive.yaml_text import from_any_yaml
from railwright.core.errors import UsageError


def agrees(text: str) -> bool:
    """Read with both; False when the quick one leaves it to the other."""
    try:
        quick = from_block(text)
    except Unusual:
        return False
    try:
        told = from_any_yaml(text.encode(), "here")
    except UsageError as error:
        pytest.fail(f"{text!r} is {quick!r} to the quick reader, and refused by the parser: {error}")
    assert quick == told, text
    assert repr(quick) == repr(told), text
    return True


OBJECT = """apiVersion: v1
kind: Pod
metadata:
  annotations:
    k8s.v1.cni.cncf.io/network-status: |-
      [{
          "name": "x",

          "ips": ["10.0.0.1"]
      }]
  managedFields:
  - fieldsV1:
      f:metadata:
        f:labels:
          .: {}
          k:{"type":"Ready"}: {}
  labels: {}
spec:
  args:
  - --flag=a:b
  - -x
  - "quoted: text"
  - 'it''s'
  nested:
  - - a
    - 1
  -   deep: 1.5
      deeper: -3
  empty:
  script: |
    #!/bin/sh
      echo "a: b"
  "quoted key": true
  'other': null
"""


def test_an_object_as_kubectl_prints_it_is_read_quickly() -> None:
    assert agrees(OBJECT)


@pytest.mark.parametrize(
    "text",
    [
        "a: &x 1",
        "a: *x",
        "a: [1]",
        "a: {b: 1}",
        "a: b # comment",
        "a: b: c",
        "a: >\n  folded",
        "a: |2\n   x",
        'a: "esc\\n"',
        "a: b\n  c",
        "a:\n- b\n  c",
        "a: 'b",
        "? a\n: b",
        "!!str a",
        "---\na: b",
        "a: b\n---\nc: d",
        "a: b\na: c",
        "a\tb: c",
        "ü: 1",
        "- a\n b",
        "just text",
        "",
        "a: @b",
        "a: %b",
        "a: -",
        "a: - b",
    ],
)
def test_what_is_unusual_is_left_to_the_parser(text: str) -> None:
    assert not agrees(text)


TEXT = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20) | st.sampled_from(
    [
        "a: b",
        "x # y",
        "- z",
        "line\nline\n",
        "  lead",
        "trail  ",
        "'",
        '"',
        "1.0",
        "0x1F",
        "null",
        "yes",
        "2026-01-01",
        "",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT.filter(bool), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(TEXT.filter(bool), VALUES, min_size=1, max_size=4), st.sampled_from([80, 10_000]))
def test_it_agrees_on_whatever_a_tool_prints(value: dict[str, Any], width: int) -> None:
    agrees(yaml.safe_dump(value, default_flow_style=False, width=width))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "a:",
                "b: c",
                "- d",
                "-",
                "- e: f",
                "  ",
                " ",
                "\n",
                "\n",
                "'g'",
                '"h"',
                "#",
                ": ",
                "|",
                "|-",
                "|\n",
                "{}",
                "[]",
                "k:l",
                "1",
                "- - m",
                "- ",
                "x",
            ]
        ),
        max_size=24,
    )
)
def test_it_agrees_on_pieces_in_any_order(pieces: list[str]) -> None:
    agrees("".join(pieces))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 4),
            st.sampled_from(
                [
                    "a:",
                    "b: c",
                    "- d",
                    "- e: f",
                    "",
                    "g: |",
                    "h: |-",
                    "text # no",
                    "i: 'j'",
                    "- - k",
                    "-   l: m",
                    "- |",
                    "n: {}",
                    "o: p:q",
                ]
            ),
        ),
        max_size=10,
    )
)
def test_it_agrees_on_lines_at_any_depth(lines: list[tuple[int, str]]) -> None:
    agrees("\n".join(" " * depth + line for depth, line in lines))
