"""Rendered documents have the bytes of the Go program's YAML library, and read back as what they were made from."""

from __future__ import annotations

import json
import math
import pathlib
import re

import pytest
import yaml
from capm3_managers.data.render import document, ordering, resolution
from hypothesis import given, settings
from hypothesis import strategies as st

READ_AS_SOMETHING_ELSE = [
    "", "~", "null", "Null", "true", "True", "yes", "Yes", "on", "off", "y", "N", "12", "-7", "+7", "0x1F", "0b11",
    "0o17", "017", "08", "1_000", "1.5", ".5", "1e3", "-1.5E-3", ".inf", "-.Inf", ".nan", "12:30", "1:2:3.5",
    "2026-01-01", "2026-1-1", "2026-01-01T00:00:00Z", "2026-01-01 10:00:00", "2026-01-01t1:2:3.25+02:00",
    "02:00:00:00:00:01", "18446744073709551615", "9999999999999999999999",
]  # fmt: skip
TEXTS = [
    "a", "yesterday", "nul", "0x", "0b12", "0o9", "12a", "1.2.3", "2026-13-01", "2026-02-30", "02:00:00:00:0a:01",
    "12:75", "-", "1-2", "0x1_G", ".5.5", "192.0.2.1", "2001:db8::1", "TRue", "<<", "=",
]  # fmt: skip


@pytest.mark.parametrize("text", READ_AS_SOMETHING_ELSE)
def test_a_text_that_reads_as_something_else_is_double_quoted(text: str) -> None:
    assert document.dump({"k": text}) == f'k: "{text}"\n'


@pytest.mark.parametrize("text", TEXTS)
def test_other_texts_are_not_double_quoted(text: str) -> None:
    assert resolution.is_text(text)
    assert '"' not in document.dump({"k": text})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain text", "k: plain text\n"),
        ("a: b", "k: 'a: b'\n"),
        ("a #b", "k: 'a #b'\n"),
        ("a#b", "k: a#b\n"),
        ("ends:", "k: 'ends:'\n"),
        ("it's", "k: it's\n"),
        ("'q'", "k: '''q'''\n"),
        (" lead", "k: ' lead'\n"),
        ("- d", "k: '- d'\n"),
        ("-d", "k: -d\n"),
        ("---", "k: '---'\n"),
        ("a\tb", 'k: "a\\tb"\n'),
        ("a\rb", 'k: "a\\rb"\n'),
        ("a\nb", "k: |-\n  a\n  b\n"),
        ("a\nb\n", "k: |\n  a\n  b\n"),
        ("a\n\n", "k: |+\n  a\n\n"),
        ("\n", "k: |2+\n\n"),
        ("a \nb", 'k: "a \\nb"\n'),
        ("a\n ", 'k: "a\\n "\n'),
        ("\U0001f600", 'k: "\\U0001F600"\n'),
        ("\ufeff", 'k: "\\uFEFF"\n'),
        ("\x01", 'k: "\\x01"\n'),
        ("a\u2028b", "k: 'a\u2028  b'\n"),
        ("\u00e9\u00a0", "k: \u00e9\u00a0\n"),
    ],
)
def test_a_text_takes_the_style_that_keeps_it_whole(value: str, expected: str) -> None:
    assert document.dump({"k": value}) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"),
        (True, "true"),
        (0, "0"),
        (2.5, "2.5"),
        (1.0, "1"),
        (2**64 - 1, "18446744073709551615"),
        (2**64, "1.8446744073709552e+19"),
        (10**20, "1e+20"),
        (1e20, "1e+20"),
        (1e21, "1e+21"),
        (1234567.5, "1.2345675e+06"),
        (123456.5, "123456.5"),
        (-0.0001, "-0.0001"),
        (0.00001, "1e-05"),
        (1.5e-7, "1.5e-07"),
        (math.inf, ".inf"),
        ([], "[]"),
        ({}, "{}"),
    ],
)
def test_values_that_are_no_texts(value: object, expected: str) -> None:
    assert document.dump({"k": value}) == f"k: {expected}\n"


def test_lists_stand_as_deep_as_their_key_and_nested_ones_deeper() -> None:
    value = {"a": [{"b": 1, "c": ["x"]}, [1, [2]], "s"], "z": {"l": [{}]}}
    assert document.dump(value) == "a:\n- b: 1\n  c:\n  - x\n- - 1\n  - - 2\n- s\nz:\n  l:\n  - {}\n"


def test_long_texts_fold_at_single_spaces_behind_column_80() -> None:
    assert document.dump({"k": "word " * 17 + "end"}) == f"k: {'word ' * 15}word\n  word end\n"
    assert document.dump({"k": "word  " * 30 + "end"}).count("\n") == 1


def test_keys_longer_than_128_bytes_or_with_line_breaks_stand_behind_a_question_mark() -> None:
    assert document.dump({"k" * 128: "v"}) == f"{'k' * 128}: v\n"
    assert document.dump({"k" * 129: ["v"]}) == f"? {'k' * 129}\n: - v\n"
    assert document.dump({"a\nb": {"c": 1}}) == "? |-\n  a\n  b\n: c: 1\n"


RECORDED = (pathlib.Path(__file__).parent / "data" / "yaml-by-go.jsonl").read_text(encoding="utf-8").splitlines()
"""Random documents, and what the library of the Go program (sigs.k8s.io/yaml 1.6.0) made of their JSON."""


@pytest.mark.parametrize("line", RECORDED, ids=range(len(RECORDED)))
def test_odd_documents_have_the_bytes_that_the_go_library_gives_them(line: str) -> None:
    recorded = json.loads(line)
    if "error" in recorded:
        with pytest.raises(document.Unwritable, match=f"^{re.escape(recorded['error'])}$"):
            document.dump(recorded["document"])
    else:
        assert document.dump(recorded["document"]) == recorded["text"]


@pytest.mark.parametrize("char", ["\x7f", "\x80", "\x9f", "\uffff"])
def test_characters_that_yaml_forbids_are_refused_with_the_known_text(char: str) -> None:
    with pytest.raises(document.Unwritable, match=r"^yaml: control characters are not allowed$"):
        document.dump({"k": f"a{char}"})


def test_keys_are_in_natural_order() -> None:
    expected = ["", "-", "0", "1", "01", "10", "A", "Z", "a", "a-b", "a1b", "a9", "a10", "ab", "\u00e9"]
    assert ordering.natural(reversed(expected)) == expected


texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"], exclude_characters="\x7f\ufffe\uffff"))
printable = texts.filter(lambda text: not any("\x80" <= char <= "\x9f" for char in text))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | printable,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(printable, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=120, deadline=None)
@given(st.dictionaries(printable.filter(lambda key: "\n" not in key), values, min_size=1, max_size=4))
def test_every_document_reads_back_as_what_it_was_made_from(value: dict[str, object]) -> None:
    assert yaml.load(document.dump(value), Loader=Loader) == value


class Loader(yaml.SafeLoader):
    """PyYAML with the types of the documents only: it reads y and n as texts, and has no sexagesimals here."""


Loader.yaml_implicit_resolvers = {
    first: [
        (tag, form)
        for tag, form in forms
        if tag in ("tag:yaml.org,2002:null", "tag:yaml.org,2002:bool", "tag:yaml.org,2002:int")
    ]
    for first, forms in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
