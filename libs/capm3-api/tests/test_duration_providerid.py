"""Durations and provider IDs are read and written as the Go programs do."""

from __future__ import annotations

import pytest
from capm3_api import duration, providerid
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5m0s", 300),
        ("100.9s", 100),
        ("500ms", 0),
        ("0", 0),
        ("-90s", -90),
        ("-1.9s", -1),
        ("1h30m", 5400),
        ("+1.5h", 5400),
        (".5m", 30),
        ("1000000µs", 1),
        ("0.99999999999999999999999s", 1),
        ("0.3333333333333333333333h", 1200),
        ("2562047h47m16s", 9223372036),
    ],
)
def test_whole_seconds_of_a_duration(text: str, seconds: int) -> None:
    assert duration.seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "1", "1x", ".s", "-", "1h 2m", "s", "9999999999h", "--1s"])
def test_what_is_no_duration_is_refused_in_the_words_of_go(text: str) -> None:
    with pytest.raises(duration.DurationError, match="time: invalid duration"):
        duration.parse(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (600, "10m0s"),
        (100, "1m40s"),
        (59, "59s"),
        (0, "0s"),
        (5400, "1h30m0s"),
        (-90, "-1m30s"),
        (2147483647, "596523h14m7s"),
    ],
)
def test_text_of_seconds(seconds: int, text: str) -> None:
    assert duration.text_of(seconds) == text


@given(st.integers(-(2**31), 2**31))
def test_what_is_written_is_read_again(seconds: int) -> None:
    assert duration.seconds(duration.text_of(seconds)) == seconds


def test_a_provider_id_is_written_and_read() -> None:
    made = providerid.ProviderID("ns", "host", "machine")
    assert str(made) == "metal3://ns/host/machine"
    assert made.metadata_value == "ns/host/machine"
    assert made.host_prefix == "metal3://ns/host/"
    assert providerid.parse(str(made)) == made


@pytest.mark.parametrize("text", ["", "metal3://uid", "aws:///a/b/c", "metal3://a//c", "metal3://a/b/c/d"])
def test_anything_else_is_no_provider_id(text: str) -> None:
    assert providerid.parse(text) is None
