"""What is built for operators and nodes, and how it is kept apart."""

from pathlib import Path

import pytest

from railwright.lab.controlplane.nfd import NFD_PROGRAMS
from railwright.lab.controlplane.olm import OLM_PROGRAMS
from railwright.lab.controlplane.pods import KWOK_PROGRAMS, SCHEDULER_PROGRAMS
from railwright.lab.controlplane.programs import PROGRAMS, RECIPE, Piece, build_flags, cache_folder, recipe_hash
from railwright.lab.controlplane.sriov import SRIOV_PROGRAMS

GROUPS = {
    "plane": PROGRAMS,
    "scheduler": SCHEDULER_PROGRAMS,
    "kwok": KWOK_PROGRAMS,
    "olm": OLM_PROGRAMS,
    "sriov": SRIOV_PROGRAMS,
    "nfd": NFD_PROGRAMS,
}


@pytest.mark.parametrize("group", GROUPS)
def test_every_piece_has_its_module_in_the_recipe(group: str) -> None:
    for piece in GROUPS[group]:
        assert (RECIPE / piece.module / "go.mod").is_file()
        assert (RECIPE / piece.module / "go.sum").is_file()
    assert (RECIPE / "olm" / "fbcserve" / "main.go").is_file()


def test_pieces_that_are_wanted_together_have_a_folder_of_their_own() -> None:
    """A change of one recipe must not throw the programs of another away."""
    names = {cache_folder({}, Path("/home/x"), pieces).name for pieces in GROUPS.values()}
    assert names == {recipe_hash(pieces) for pieces in GROUPS.values()}
    assert len(names) == len(GROUPS)


def test_a_variable_is_set_by_the_linker_of_its_program_alone() -> None:
    def variables(pieces: tuple[Piece, ...]) -> dict[str, bool]:
        return {piece.name: "hostpath.pathPrefix=host/" in build_flags(piece)[-1] for piece in pieces}  # type: ignore[arg-type]  # no folders among them

    assert variables(NFD_PROGRAMS) == {"nfd-master": False, "nfd-gc": False, "nfd-worker": True}
