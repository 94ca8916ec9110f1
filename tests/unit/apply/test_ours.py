import pytest

from railwright.apply.model import LedgerEntry
from railwright.apply.ours import speaks_of
from railwright.core import kinds
from railwright.core.ids import StageName
from railwright.core.objects import Ref

REF = Ref(kinds.CONFIG_MAP, "default", "a")
OURS = {"manager": "railwright", "operation": "Apply"}
THEIRS = {"manager": "kubectl", "operation": "Apply"}
LABEL = {"app.kubernetes.io/managed-by": "railwright"}


def an_entry(*, created, uid="") -> LedgerEntry:
    return LedgerEntry(
        REF,
        created=created,
        uid=uid,
        fields=(),
        fabrics=(),
        order=1,
        stage=StageName("s"),
        recorded_at="2026-11-30T07:00:00Z",
    )


def an_object(*, uid="u1", managers=(OURS,), labels=LABEL, made="2026-11-30T07:00:01Z"):
    metadata = {"uid": uid, "managedFields": list(managers), "labels": labels, "creationTimestamp": made}
    return {"metadata": metadata}


@pytest.mark.parametrize(
    ("entry", "obj", "expected"),
    [
        (an_entry(created=True, uid="u1"), an_object(managers=(THEIRS,)), True),
        (an_entry(created=True, uid="u1"), an_object(uid="u2"), False),
        (an_entry(created=False, uid="u1"), an_object(uid="u2"), False),
        (an_entry(created=False), an_object(managers=(THEIRS,)), True),
        (an_entry(created=True), an_object(), True),
        (an_entry(created=True), an_object(made="2026-11-30T05:00:00Z"), True),
        (an_entry(created=True), an_object(managers=(THEIRS,)), False),
        (an_entry(created=True), an_object(labels={}), False),
    ],
    ids=[
        "its uid is ours",
        "made anew by others",
        "taken, then made anew",
        "taken, not confirmed",
        "made, not confirmed",
        "our clock is hours ahead",
        "we never wrote to it",
        "it does not say that we manage it",
    ],
)
def test_an_entry_speaks_of_an_object_only_when_that_can_be_told(entry, obj, expected):
    assert speaks_of(entry, obj) is expected
