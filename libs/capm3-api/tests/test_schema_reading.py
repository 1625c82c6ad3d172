"""A structural schema is applied as the API server applies it: same verdicts, paths, causes and words."""

from __future__ import annotations

import pytest
from capm3_api import schema, schema_meta, schema_types, schemas
from capm3_api.validation import errors

OBJECT = "object"


def _of(**properties):
    return {"type": OBJECT, "properties": {"spec": {"type": OBJECT, "properties": properties}}}


def _texts(found):
    return [error.text() for error in found]


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ({"type": "string"}, 1, 'spec.x: Invalid value: "integer": spec.x in body must be of type string: "integer"'),
        ({"type": "integer"}, "1", 'spec.x: Invalid value: "string": spec.x in body must be of type integer: "string"'),
        ({"type": "integer"}, 1.5, 'spec.x: Invalid value: "number": spec.x in body must be of type integer: "number"'),
        (
            {"type": "boolean"},
            "true",
            'spec.x: Invalid value: "string": spec.x in body must be of type boolean: "string"',
        ),
        ({"type": "array"}, {}, 'spec.x: Invalid value: "object": spec.x in body must be of type array: "object"'),
        ({"type": "string"}, None, 'spec.x: Invalid value: "null": spec.x in body must be of type string: "null"'),
        ({"type": "string", "enum": ["a", "b"]}, "c", 'spec.x: Unsupported value: "c": supported values: "a", "b"'),
        ({"type": "string", "maxLength": 2}, "abc", "spec.x: Too long: may not be more than 2 bytes"),
        (
            {"type": "string", "minLength": 1},
            "",
            'spec.x: Invalid value: "": spec.x in body should be at least 1 chars long',
        ),
        (
            {"type": "string", "pattern": "^a$"},
            "ab",
            "spec.x: Invalid value: \"ab\": spec.x in body should match '^a$'",
        ),
        (
            {"type": "string", "format": "date-time"},
            "soon",
            'spec.x: Invalid value: "soon": spec.x in body must be of type date-time: "soon"',
        ),
        (
            {"type": "integer", "minimum": 2},
            1,
            "spec.x: Invalid value: 1: spec.x in body should be greater than or equal to 2",
        ),
        (
            {"type": "integer", "maximum": 2},
            3,
            "spec.x: Invalid value: 3: spec.x in body should be less than or equal to 2",
        ),
        (
            {"type": "number", "minimum": 2, "exclusiveMinimum": True},
            2,
            "spec.x: Invalid value: 2: spec.x in body should be greater than 2",
        ),
        ({"type": "integer", "multipleOf": 2}, 3, "spec.x: Invalid value: 3: spec.x in body should be a multiple of 2"),
        (
            {"type": "array", "maxItems": 1, "items": {"type": "string"}},
            ["a", "b"],
            "spec.x: Too many: 2: must have at most 1 items",
        ),
        ({"type": "array", "minItems": 1}, [], "spec.x: Invalid value: 0: spec.x in body should have at least 1 items"),
        (
            {"type": OBJECT, "minProperties": 1},
            {},
            "spec.x: Invalid value: 0: spec.x in body should have at least 1 properties",
        ),
        ({"type": OBJECT, "required": ["y"]}, {}, "spec.x.y: Required value"),
        (
            {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            ["a", "a", "a"],
            'spec.x[1]: Duplicate value: "a"',
        ),
        (
            {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]},
            [{"k": "a"}, {"k": "a"}],
            'spec.x[1]: Duplicate value: {"k":"a"}',
        ),
    ],
)
def test_each_kind_of_error_is_worded_as_by_the_api_server(field, value, expected):
    assert _texts(schema.validate(_of(x=field), {"spec": {"x": value}})) == [expected]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ({"type": "integer"}, 2.0),
        ({"type": "number"}, 2),
        ({"type": "string", "nullable": True}, None),
        ({"x-kubernetes-int-or-string": True}, 1),
        ({"x-kubernetes-int-or-string": True}, "50%"),
        ({"type": "string", "format": "no-such-format"}, "x"),
        ({"type": "string", "format": "date-time"}, "2026-01-01T00:00:00Z"),
        ({"type": "integer", "format": "int64"}, 2**62),
        ({"type": OBJECT, "x-kubernetes-preserve-unknown-fields": True}, {"any": [1, {"thing": None}]}),
        ({"type": "string", "minLength": 2, "maxLength": 2}, "é€"),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "x"),
    ],
)
def test_what_the_api_server_takes_is_taken(field, value):
    assert schema.validate(_of(x=field), {"spec": {"x": value}}) == []


def test_an_integer_out_of_its_format_is_refused():
    found = schema.validate(_of(x={"type": "integer", "format": "int32"}), {"spec": {"x": 2**31}})
    assert "must be of type integer with format int32 in spec.x" in found[0].message


@pytest.mark.parametrize(("text", "matches"), [("ab", True), ("ab\n", False), ("٣", False)])
def test_a_dollar_in_a_pattern_means_the_end_of_the_text_and_classes_are_ascii(text, matches):
    found = schema.validate(_of(x={"type": "string", "pattern": r"^\w+$"}), {"spec": {"x": text}})
    assert (found == []) is matches


def test_unknown_fields_are_pruned_and_named_at_any_depth():
    shape = _of(list={"type": "array", "items": {"type": OBJECT, "properties": {"a": {"type": "string"}}}})
    obj = {"apiVersion": "v1", "metadata": {"name": "n", "odd": 1}, "extra": 1, "spec": {"list": [{"a": "x", "b": 1}]}}
    pruned, dropped = schema.prune(shape, obj)
    assert dropped == ["extra", "metadata.odd", "spec.list[0].b"]
    assert pruned == {"apiVersion": "v1", "metadata": {"name": "n"}, "spec": {"list": [{"a": "x"}]}}
    assert obj["spec"]["list"][0] == {"a": "x", "b": 1}, "the object given must stay as it was"


def test_pruning_keeps_what_a_schema_preserves_but_prunes_below_known_fields():
    inner = {"type": OBJECT, "properties": {"known": {"type": OBJECT, "properties": {"a": {"type": "string"}}}}}
    shape = _of(free={**inner, "x-kubernetes-preserve-unknown-fields": True})
    pruned, dropped = schema.prune(shape, {"spec": {"free": {"new": {"deep": 1}, "known": {"a": "x", "b": 1}}}})
    assert dropped == ["spec.free.known.b"]
    assert pruned["spec"]["free"] == {"new": {"deep": 1}, "known": {"a": "x"}}


def test_defaults_fill_absent_fields_and_forbidden_nulls_but_not_zero_values():
    shape = _of(
        a={"type": "integer", "default": 5},
        b={"type": "integer", "default": 5},
        c={"type": "string"},
        d={"type": "string", "nullable": True, "default": "x"},
        e={"type": OBJECT, "default": {}, "properties": {"f": {"type": "string", "default": "deep"}}},
    )
    assert schema.default(shape, {"spec": {"a": None, "b": 0, "c": None, "d": None}}) == {
        "spec": {"a": 5, "b": 0, "d": None, "e": {"f": "deep"}}
    }


def test_an_update_is_not_refused_for_what_it_leaves_unchanged():
    shape = _of(a={"type": "string", "maxLength": 1}, b={"type": "string"})
    old = {"spec": {"a": "too long", "b": "x"}}
    assert schema.validate(shape, {"spec": {"a": "too long", "b": "y"}}, old) == []
    assert [error.path for error in schema.validate(shape, {"spec": {"a": "longer too", "b": "x"}}, old)] == ["spec.a"]


def test_items_of_a_map_list_are_ratcheted_by_their_keys_and_those_of_other_lists_are_not():
    item = {"type": OBJECT, "properties": {"k": {"type": "string"}, "v": {"type": "string", "maxLength": 1}}}
    keyed = {"type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    old = {"spec": {"l": [{"k": "a", "v": "long"}]}}
    new = {"spec": {"l": [{"k": "b", "v": "x"}, {"k": "a", "v": "long"}]}}
    assert schema.validate(_of(l=keyed), new, old) == []
    assert schema.validate(_of(l={"type": "array", "items": item}), new, old) != []


def test_duplicates_are_held_against_an_update_only_if_the_stored_object_had_none():
    shape = _of(l={"type": "array", "x-kubernetes-list-type": "set"}, o={"type": "string"})
    assert schema.validate(shape, {"spec": {"l": ["a", "a"], "o": "n"}}, {"spec": {"l": ["a", "a"], "o": "o"}}) == []
    assert schema.validate(shape, {"spec": {"l": ["a", "a"]}}, {"spec": {"l": ["a"]}}) != []


def test_metadata_is_judged_as_the_api_server_does():
    bad = {
        "name": "Not_A_Name",
        "namespace": "a.b",
        "labels": {"-x": "1", "ok": "no blank"},
        "finalizers": ["plain name"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p"}],
    }
    assert [error.path for error in schema_meta.validate({"metadata": bad})] == [
        "metadata.name",
        "metadata.namespace",
        "metadata.labels",
        "metadata.labels",
        "metadata.finalizers",
        "metadata.ownerReferences[0].uid",
    ]
    assert schema_meta.validate({"metadata": {"generateName": "x-", "annotations": {"A.B/c_D": "any text"}}}) == []


def test_wrong_types_alone_are_found_and_free_content_is_left_alone():
    shape = _of(
        a={"type": "string", "maxLength": 1}, free={"type": OBJECT, "x-kubernetes-preserve-unknown-fields": True}
    )
    assert schema_types.wrong(shape, {"spec": {"a": "long", "free": "text"}}) == []
    assert [error.path for error in schema_types.wrong(shape, {"spec": {"a": 1}})] == ["spec.a"]


def test_every_kind_has_a_shipped_schema_in_every_served_version():
    served = {
        (kind, version["name"]) for (_, kind), crd in schemas.crds().items() for version in crd["spec"]["versions"]
    }
    assert ("Metal3Machine", "v1beta1") in served and ("Metal3Machine", "v1beta2") in served
    for (group, kind), crd in schemas.crds().items():
        for version in crd["spec"]["versions"]:
            assert schemas.of(f"{group}/{version['name']}", kind), (kind, version["name"])


def test_a_status_of_errors_has_the_form_of_the_api_server():
    found = [errors.required("spec.a"), errors.invalid("spec.b", {"x": "<y>"}, "is bad"), errors.required("spec.a")]
    status = errors.invalid_status("g.io", "K", "n", found)
    assert status["message"] == (
        'K.g.io "n" is invalid: [spec.a: Required value, spec.b: Invalid value: {"x":"\\u003cy\\u003e"}: is bad]'
    )
    assert status["code"] == 422 and len(status["details"]["causes"]) == 3


@pytest.mark.parametrize(
    ("text", "quoted"),
    [("a", '"a"'), ('"\\', '"\\"\\\\"'), ("\x01\n", '"\\x01\\n"'), ("é", '"é"'), ("\u2028", '"\\u2028"')],
)
def test_text_is_quoted_as_go_quotes_it(text, quoted):
    assert errors.quote(text) == quoted
