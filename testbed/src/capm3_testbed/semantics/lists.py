"""Cases about lists: order, selectors, paging."""

from __future__ import annotations

from capm3_testbed.semantics.cases import WIDGET, Subject, case, refused, version_of


def _names(subject: Subject, **query: str) -> str:
    items = subject.client.list(WIDGET, subject.namespace, query).items
    return "".join(obj["metadata"]["name"] for obj in items)


@case("a list is sorted by name and carries a version no older than its objects")
def _sorted(subject: Subject) -> None:
    for name in ("c", "a", "b"):
        subject.made(name)
    page = subject.client.list(WIDGET, subject.namespace)
    assert [obj["metadata"]["name"] for obj in page.items] == ["a", "b", "c"]
    assert int(page.version) >= max(version_of(obj) for obj in page.items)


@case("label selectors choose by equality, sets and existence")
def _labels(subject: Subject) -> None:
    for name, labels in {"a": {"x": "1"}, "b": {"x": "2", "y": ""}, "c": {}}.items():
        subject.made(name, metadata={"labels": labels})
    wanted = {"x=1": "a", "x==2": "b", "x!=1": "bc", "x in (1,2),!y": "a", "x notin (1)": "bc", "y": "b", "!x": "c"}
    found = {selector: _names(subject, labelSelector=selector) for selector in wanted}
    assert found == wanted
    with refused(400, "BadRequest"):
        _names(subject, labelSelector="a b c")


@case("field selectors choose by name and namespace")
def _fields(subject: Subject) -> None:
    for name in ("a", "b"):
        subject.made(name)
    assert _names(subject, fieldSelector="metadata.name=b") == "b"
    assert _names(subject, fieldSelector="metadata.name!=b") == "a"
    assert _names(subject, fieldSelector=f"metadata.namespace={subject.namespace}") == "ab"


@case("pages together are the list as it was when the first was read", "pages")
def _pages(subject: Subject) -> None:
    for name in "abcde":
        subject.made(name)
    names, token, version = "", "", ""
    for number in range(3):
        query = {"limit": "2"} | ({"continue": token} if token else {})
        page = subject.client.list(WIDGET, subject.namespace, query)
        names += "".join(obj["metadata"]["name"] for obj in page.items)
        token = page.token
        assert bool(token) is (number < 2) and version in ("", page.version)
        version = page.version
        if number == 0:
            subject.made("bb")
            subject.client.delete(WIDGET, subject.key("e"))
    assert names == "abcde"


@case("a continue token that is none is refused", "pages")
def _bad_token(subject: Subject) -> None:
    with refused(400, "BadRequest"):
        subject.client.list(WIDGET, subject.namespace, {"limit": "1", "continue": "nonsense"})
