"""OLM's part of the recipe."""

from pathlib import Path

from railwright.lab.controlplane.olm import OLM_PROGRAMS
from railwright.lab.controlplane.programs import PROGRAMS, RECIPE, cache_folder, recipe_hash


def test_every_program_of_olm_has_its_module_in_the_recipe() -> None:
    for program in OLM_PROGRAMS:
        assert (RECIPE / program.module / "go.mod").is_file()
        assert (RECIPE / program.module / "go.sum").is_file()
    assert (RECIPE / "olm" / "fbcserve" / "main.go").is_file()


def test_programs_that_are_wanted_together_have_a_folder_of_their_own() -> None:
    """A change of one recipe must not throw the programs of another away."""
    home = Path("/home/x")
    assert recipe_hash(PROGRAMS) != recipe_hash(OLM_PROGRAMS)
    assert cache_folder({}, home, OLM_PROGRAMS).name == recipe_hash(OLM_PROGRAMS)
