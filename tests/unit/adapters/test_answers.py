"""Answers of a real kube-apiserver 1.36.3, shortened, and the errors that they mean."""

import json
from typing import Any

import pytest

from railwright.adapters.answers import Answer, Asked, error_of
from railwright.core.errors import (
    ClusterBusy,
    ClusterError,
    KindNotServed,
    LoginExpired,
    NotFound,
    ObjectRefused,
    PermissionMissing,
    WriteConflict,
)


def said(code: int, message: str, **more: Any) -> Answer:
    return Answer(code, json.dumps({"kind": "Status", "status": "Failure", "message": message, "code": code, **more}))


def error(answer: Answer, *, writes: bool = True) -> ClusterError:
    return error_of(answer, Asked("apply ConfigMap a/b", writes=writes))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (said(401, "Unauthorized", reason="Unauthorized"), LoginExpired),
        (Answer(404, "404 page not found\n"), KindNotServed),
        (said(404, "the server could not find the requested resource", details={}), KindNotServed),
        (said(404, 'configmaps "b" not found', details={"name": "b", "kind": "configmaps"}), NotFound),
        (said(409, "the object has been modified", reason="Conflict", details={"name": "b"}), WriteConflict),
        (said(409, 'configmaps "b" already exists', reason="AlreadyExists", details={"name": "b"}), WriteConflict),
        (said(410, "too old resource version", reason="Expired"), ClusterBusy),
        (said(429, "too many requests"), ClusterBusy),
        (Answer(503, "upstream connect error"), ClusterBusy),
        (Answer(504, ""), ClusterBusy),
        (said(500, "failed to create typed patch object: .spec.mtu: field not declared in schema"), ObjectRefused),
        (said(500, 'failed calling webhook "x": no endpoints available', reason="InternalError"), ClusterBusy),
        (said(500, "etcdserver: leader changed"), ClusterBusy),
        (said(400, 'strict decoding error: unknown field "spec.mtu"', reason="BadRequest"), ObjectRefused),
        (said(403, 'admission webhook "x" denied the request: no'), ObjectRefused),
        (said(403, 'pods "x" is forbidden: violates PodSecurity "restricted:latest"'), ObjectRefused),
        (said(403, "unable to create new content in namespace a because it is being terminated"), ClusterBusy),
        (said(422, "Invalid", reason="Invalid"), ObjectRefused),
    ],
)
def test_each_answer_means_one_error(answer: Answer, expected: type[ClusterError]) -> None:
    assert type(error(answer)) is expected


@pytest.mark.parametrize("code", [418, 500, 501])
def test_an_answer_that_nobody_knows_is_a_plain_cluster_error_with_its_code(code: int) -> None:
    found = error(Answer(code, "odd"))
    assert type(found) is ClusterError
    assert found.context == {"http_status": str(code)}
    assert "odd" in found.message


def test_missing_rights_name_verb_resource_and_namespace() -> None:
    message = (
        'sriovnetworks is forbidden: User "dev" cannot patch resource "sriovnetworks" in API group '
        '"sriovnetwork.openshift.io" in the namespace "ops"'
    )
    found = error(said(403, message, reason="Forbidden"))
    assert type(found) is PermissionMissing
    assert found.context["verb"] == "patch"
    assert found.context["resource"] == "sriovnetworks"
    assert found.context["namespace"] == "ops"
    assert "dev may not patch sriovnetworks.sriovnetwork.openshift.io in namespace ops" in found.message


def test_missing_rights_on_what_has_no_namespace_say_the_whole_cluster() -> None:
    message = 'nodes is forbidden: User "dev" cannot list resource "nodes" in API group "" at the cluster scope'
    found = error(said(403, message), writes=False)
    assert "in the whole cluster" in found.message
    assert "namespace" not in found.context


def test_a_read_that_is_forbidden_in_other_words_is_a_missing_right() -> None:
    assert type(error(said(403, "Forbidden by proxy"), writes=False)) is PermissionMissing


def test_a_conflict_names_each_field_and_its_owner() -> None:
    causes = [
        {"reason": "FieldManagerConflict", "message": 'conflict with "kubectl" using v1', "field": ".data.a"},
        {
            "reason": "FieldManagerConflict",
            "message": 'conflict with "argocd" with subresource "status" using v1',
            "field": ".spec.x",
        },
    ]
    found = error(said(409, "Apply failed with 2 conflicts", reason="Conflict", details={"causes": causes}))
    assert found.context == {".data.a": "kubectl", ".spec.x": "argocd"}


def test_a_refusal_keeps_each_cause_under_its_field() -> None:
    causes = [{"reason": "FieldValueInvalid", "message": "must be <= 99", "field": "spec.priority"}]
    found = error(said(422, "Invalid", details={"causes": causes}))
    assert found.context == {"spec.priority": "must be <= 99"}


def test_a_busy_server_says_when_to_come_back() -> None:
    found = error_of(Answer(429, "", retry_after="7"), Asked("list Node"))
    assert found.context["retry_after_s"] == "7"
    assert found.transient


def test_a_missing_namespace_is_told_from_a_missing_object() -> None:
    found = error(said(404, 'namespaces "a" not found', details={"name": "a", "kind": "namespaces"}))
    assert found.context == {"resource": "namespaces", "name": "a"}


@pytest.mark.parametrize(
    ("webhook", "objects"),
    [("operator-webhook.sriovnetwork.openshift.io", True), ("vnicclusterpolicy.kb.io", False)],
)
def test_a_webhook_that_does_not_answer_is_named_and_the_one_that_guards_its_switch_with_its_objects(
    webhook: str, objects: bool
) -> None:
    hint = error(said(500, f'Internal error occurred: failed calling webhook "{webhook}": no endpoints available')).hint
    assert webhook in hint
    assert (
        "validatingwebhookconfiguration,mutatingwebhookconfiguration sriov-operator-webhook-config" in hint
    ) == objects
