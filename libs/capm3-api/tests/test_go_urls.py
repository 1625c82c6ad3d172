"""A URL is one where Go's ParseRequestURI says so."""

from __future__ import annotations

import pytest
from capm3_api.validation import gourl


@pytest.mark.parametrize(
    "text",
    [
        "http://192.0.2.80/a b",
        "http:",
        "http://",
        "http://192.0.2.80/a#frag",
        "file:///images/os.raw",
        "HTTP://192.0.2.80/a",
        "mailto:a@example.com",
        "http://[2001:db8::1]/a",
        "http://[2001:db8::1]:80/a",
        "http://[fe80::1%25eth0]/a",
        "/srv/x",
        "oci://registry.example.com/os:1",
        "http://user:pass@host/x",
        "http://host:8080?x=%zz",
        "http://host/%41?",
        "*",
        "ftp://2001:db8::1/a",
        "oci://registry.example.com:5000:1/os",
    ],
)
def test_well_formed_absolute_uris_and_paths_are_accepted(text):
    assert gourl.is_request_uri(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "os.qcow2",
        "://x",
        "http://192.0.2.80/%zz",
        "http://192.0.2.80/\x01",
        "http://192.0.2.80:port/x",
        "http://[2001:db8::1/a",
        "http://2001:db8::1/a",
        "HTTPS://2001:db8::1/a",
        "http://[not-v6]/a",
        "http://[fe80::1%25]/a",
        "http://[fe80::1%25eth 0]/a",
        "http://a b/x",
        "http://host%41/x",
        "http://us er@host/x",
        "oci://%zz",
        "1http://x",
    ],
)
def test_anything_else_is_refused(text):
    assert not gourl.is_request_uri(text)


def test_scheme_and_host_are_read_in_lower_case_and_without_port():
    assert gourl.scheme_of("HTTPS://h:1/x") == "https"
    assert gourl.host_of("https://u@h.example:1/x") == "h.example"
    assert gourl.host_of("http://[2001:db8::1]:80/x") == "[2001:db8::1]"
    assert gourl.host_of("file:///x") == "" and gourl.host_of("ftp:/bad") == ""


def test_a_bare_ipv6_host_is_only_refused_when_strict():
    assert gourl.is_request_uri("http://2001:db8::1/a", strict=False)
    assert not gourl.is_request_uri("http://2001:db8::1:x/a", strict=False)
