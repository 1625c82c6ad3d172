"""The declared rights cover what is watched, and are not wider than they need be."""

from __future__ import annotations

import pytest
from capm3_api import kinds
from capm3_controller import rbac, wiring
from capm3_managers import watches

DEFINITIONS = wiring.definitions()


def allows(rules, group, resource, verb):
    return any(rule.group == group and resource in rule.resources and verb in rule.verbs for rule in rules)


@pytest.mark.parametrize("name", DEFINITIONS)
@pytest.mark.parametrize("verb", ["list", "watch"])
def test_every_controller_may_watch_what_it_watches(name, verb):
    definition = DEFINITIONS[name]
    watched = [row.kind for row in watches.WATCHES[name].rows] + list(definition.reads)
    missing = [kind.plural for kind in watched if not allows(definition.rules, kind.group, kind.plural, verb)]
    assert missing == []


@pytest.mark.parametrize("name", DEFINITIONS)
def test_every_controller_may_patch_its_own_kind_and_status(name):
    definition = DEFINITIONS[name]
    kind = definition.manager.kind
    for resource in (kind.plural, f"{kind.plural}/status"):
        assert allows(definition.rules, kind.group, resource, "patch")


def test_rules_name_resources_one_by_one_and_no_wildcards():
    for rule in rbac.rules():
        assert "*" not in (rule.group, *rule.resources, *rule.verbs)


def test_only_our_own_definitions_may_be_changed():
    patching = [rule for rule in rbac.rules() if rule.group == kinds.CRD.group and "patch" in rule.verbs]
    assert len(patching) == 1
    assert len(patching[0].names) == 9


def test_roles_have_the_shape_of_the_api():
    cluster = rbac.role("manager", rbac.rules())
    assert cluster["kind"] == "ClusterRole"
    assert all(set(rule) <= {"apiGroups", "resources", "verbs", "resourceNames"} for rule in cluster["rules"])
    leader = rbac.role("leader", rbac.LEADER, "capm3-system")
    assert (leader["kind"], leader["metadata"]["namespace"]) == ("Role", "capm3-system")
