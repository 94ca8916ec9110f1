"""
Completion of `kubectl railwright` and `oc railwright`.

Source: Kubernetes staging/src/k8s.io/kubectl/pkg/cmd/plugin/plugin_completion.go (read 2026-12): for the plugin
`kubectl-railwright` kubectl 1.26 and later runs `kubectl_complete-railwright` with the words behind the plugin's name,
the last of them unfinished and maybe empty; each line of its answer is a candidate, with its meaning behind a tab, and
the last line a directive of Cobra. oc is built from the same code (github.com/openshift/oc, pkg/cli/cli.go, read
2026-12), and looks for `oc_complete-railwright`.
"""

import contextlib
import io
import os

_FILES, _NO_FILES = ":0", ":4"
"""Cobra's ShellCompDirectiveDefault, by which the shell offers files where nothing else fits, and NoFileComp."""
_WORDS = "CYCLOPTS_COMPLETION_WORDS"
_MARK = "\x1f"
_OFFERS_FILES = f"{_MARK}files"
_PREFIX = f"{_MARK}prefix\t"


def complete(words: list[str]) -> str:
    """
    Answer kubectl.

    Args:
        words: behind the plugin's name; the last is completed.
    """
    from railwright.cli.app import make_app

    told = io.StringIO()
    os.environ[_WORDS] = "".join(f"{word}{_MARK}" for word in words or [""])
    with contextlib.redirect_stdout(told):
        make_app()(["__complete"], exit_on_error=False, print_error=False)
    # What was imported on the way may have printed something.
    lines = told.getvalue().rpartition(f"{_MARK}begin\n")[2].splitlines()
    prefix = next((line.removeprefix(_PREFIX) for line in lines if line.startswith(_PREFIX)), "")
    found = [f"{prefix}{line}" for line in lines if not line.startswith(_MARK)]
    return "\n".join([*found, _FILES if _OFFERS_FILES in lines else _NO_FILES]) + "\n"
