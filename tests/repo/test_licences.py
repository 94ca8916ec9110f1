"""Every locked dependency has a licence that its own metadata states."""

import re
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
LICENCES: dict[str, dict[str, str]] = yaml.safe_load((ROOT / "docs" / "licences.yaml").read_text())
LOCK_FILES = {
    "railwright": "requirements/run.txt",
    "development": "requirements/dev.txt",
    "build": "requirements/build.txt",
    "probe image": "images/probe/requirements.txt",
}
CLASSIFIERS = {
    "MIT License": "MIT",
    "BSD License": "BSD-",
    "Apache Software License": "Apache-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
"""Old metadata names a licence by a classifier: what its SPDX name begins with."""


def locked(file: str) -> list[str]:
    return re.findall(r"^([a-z0-9-]+)==", (ROOT / file).read_text(), re.MULTILINE)


def test_every_locked_dependency_is_listed_with_its_licence_and_none_that_is_not_locked() -> None:
    listed_before: set[str] = set()
    for place, file in LOCK_FILES.items():
        if place == "probe image":
            listed_before = set()
        assert list(LICENCES[place]) == [name for name in locked(file) if name not in listed_before], file
        listed_before |= set(LICENCES[place])


def test_the_licences_are_those_that_installed_packages_state() -> None:
    unlike, compared = [], 0
    for place in ("railwright", "development", "build"):
        for name, licence in LICENCES[place].items():
            try:
                stated = metadata(name)
            except PackageNotFoundError:  # locked for another platform
                continue
            classifiers = [
                line.rpartition(" :: ")[2] for line in stated.get_all("Classifier") or [] if "License ::" in line
            ]
            expected = (
                [stated["License-Expression"]]
                if stated["License-Expression"]
                else [CLASSIFIERS[c] for c in classifiers] or [stated["License"]]
            )
            compared += 1
            if not any(licence.startswith(one) for one in expected):
                unlike.append(f"{name}: {licence}, its metadata: {expected}")
    assert not unlike
    assert compared > 30
