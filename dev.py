#!/usr/bin/env python3
"""
What `make` runs: own environment, checks, tests, benchmarks, generated pages. Standard library only.

    demo     the main job on the embedded simulated cluster
    check    format, lint, types, import contracts, generated pages: what must hold on every commit
    test     everything that can run here; ends with a list of what was not covered, and why
    test-cluster  the virtual cluster, from nothing to bytes between two pods
    soak     the long tests: more killed jobs on the real API server, the lab's machine, large clusters
    fuzz     every reader of foreign text against 100,000 mutated inputs each (tests/fuzz/run.py has its settings)
    bench    the figures of benchmarks/
    docs     write the generated pages again
    golden   write the golden files again; read the difference before you commit it
    lock     resolve dependencies again (needs uv)
    format   ruff format and its safe fixes
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
BIN = ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin")
FIT_PYTHONS = ((3, 11), (3, 12), (3, 13), (3, 14))
UNCOVERED = ROOT / ".cache" / "uncovered.txt"
SHORT = "not soak and not cluster"


def main(arguments: list[str]) -> int:
    """Run one target."""
    targets = {
        "demo": demo,
        "check": check,
        "test": test,
        "soak": soak,
        "fuzz": fuzz,
        "test-cluster": test_cluster,
        "bench": bench,
        "docs": docs,
        "golden": golden,
        "lock": lock,
        "format": format_code,
    }
    if len(arguments) != 1 or arguments[0] not in targets:
        print(__doc__)
        return 2
    fit = fit_python()
    if fit != Path(sys.executable):
        return subprocess.call([fit, __file__, *arguments])
    return targets[arguments[0]]()


def fit_python() -> Path:
    """Find a Python that railwright runs on: this one, or the newest one on the PATH."""
    if sys.version_info[:2] in FIT_PYTHONS:
        return Path(sys.executable)
    for version in reversed(FIT_PYTHONS):
        found = shutil.which(f"python{version[0]}.{version[1]}")
        if found:
            return Path(found)
    print(
        f"railwright needs Python 3.11 to 3.14; this is {sys.version.split()[0]} and no other is on the PATH. "
        "Install one, for instance the package python3.12.",
        file=sys.stderr,
    )
    raise SystemExit(1)


def environment(*, development: bool) -> None:
    """Make .venv, or bring it up to date: locked dependencies with their hashes, then this project, editable."""
    wanted = ["requirements/build.txt", "requirements/dev.txt" if development else "requirements/run.txt"]
    stamp = ENVIRONMENT / f"railwright-{'dev' if development else 'run'}.stamp"
    key = hashlib.sha256(
        b"".join((ROOT / name).read_bytes() for name in [*wanted, "pyproject.toml"]) + sys.version.encode()
    ).hexdigest()
    if stamp.exists() and stamp.read_text() == key:
        return
    print("setting up .venv (once)", file=sys.stderr)
    locked = [part for name in wanted for part in ("-r", str(ROOT / name))]
    if shutil.which("uv"):
        if not BIN.exists():
            run(["uv", "venv", "--quiet", "--python", sys.executable, str(ENVIRONMENT)])
        install = ["uv", "pip", "install", "--quiet", "--python", str(BIN / "python")]
    else:
        if not (BIN / "python").exists():
            try:
                venv.create(ENVIRONMENT, with_pip=True)
            except subprocess.CalledProcessError:
                print("Python's venv cannot install pip here: install the package python3-venv", file=sys.stderr)
                raise SystemExit(1) from None
        install = [str(BIN / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*install, "--require-hashes", *locked])
    run([*install, "--no-deps", "--no-build-isolation", "-e", str(ROOT)])
    stamp.write_text(key)


def run(command: list[str], **variables: str) -> None:
    """Run a command from the project's folder; stop the target when it fails."""
    code = subprocess.call(command, cwd=ROOT, env={**os.environ, **variables})
    if code:
        raise SystemExit(code)


def tool(name: str, *arguments: str, **variables: str) -> None:
    """Run a tool of the environment."""
    run([str(BIN / name), *arguments], **variables)


def demo() -> int:
    """Show the main job."""
    environment(development=False)
    return subprocess.call([BIN / "railwright", "demo"], cwd=ROOT)


def check() -> int:
    """Everything that must hold on every commit."""
    environment(development=True)
    tool("ruff", "format", "--check", "--quiet", ".")
    tool("ruff", "check", "--quiet", ".")
    tool("mypy")
    tool("lint-imports")
    tool("python", "docs/generate.py", "--check")
    print("check: format, lint, types, import contracts and generated pages hold")
    return 0


def test() -> int:
    """Run every test that can run here, and say what could not."""
    environment(development=True)
    UNCOVERED.parent.mkdir(exist_ok=True)
    UNCOVERED.write_text("")
    with tempfile.TemporaryDirectory(prefix="railwright-test-") as home:
        variables = {**os.environ, "RAILWRIGHT_UNCOVERED": str(UNCOVERED), "RAILWRIGHT_TEST_HOME": home}
        codes = [
            subprocess.call([BIN / "python", "-m", "pytest", "--durations=5", *part], cwd=ROOT, env=variables)
            for part in TEST_PARTS
        ]
    lines = sorted(set(UNCOVERED.read_text().splitlines()))
    print("\nnot covered by this run:")
    for line in [*lines, *ALWAYS_UNCOVERED]:
        print(f"  - {line}")
    return next((code for code in codes if code), 0)


TEST_PARTS = (
    ("-m", f"{SHORT} and not bed and not lab", "-n", "auto", "--dist", "worksteal"),
    ("-m", f"{SHORT} and bed and not lab", "-n", "2", "--dist", "loadgroup"),
    ("-m", f"{SHORT} and lab"),
)
"""
What needs neither a control plane nor a machine runs on every processor.

A test on the control plane mostly waits, so two run at a time, each process with planes of its own. The lab's machine
measures: nothing runs beside it.
"""

ALWAYS_UNCOVERED = (
    "more than one SIGKILL of a job on the real API server: make soak (on the simulator every write is covered)",
    "a faulty network before the real API server, but for one seed of shared RoCE: make soak",
    "apply of SR-IOV and host device under exactly their roles on the real API server: make soak",
    "an InstallPlan of real OLM that holds a foreign operator: make soak (unit tests cover the refusal)",
    "in the lab's machine: lost packets, swapped rails, a slow node: make soak",
    "a cluster of 64 nodes from apply to clean: make soak",
    "the virtual cluster, with real kubelets, Multus, CNI and shared device plugin: make test-cluster",
    "kubelets, Multus, CNI and device plugins: played by stand-ins that follow recordings of the real ones",
    "NVIDIA Network Operator and NVIDIA GPU Operator: played by stand-ins that follow recordings of the real ones",
    "SR-IOV config daemon and resources injector, NFD's operator, machine config operator, nmstate: played by stand-ins",
    "GPUs, ConnectX NICs, GPU memory over a NIC: no hardware",
)


def soak() -> int:
    """Run the long tests."""
    environment(development=True)
    return subprocess.call([BIN / "python", "-m", "pytest", "-m", "soak"], cwd=ROOT)


def fuzz() -> int:
    """Mutate what readers of foreign text are known to read, for long."""
    environment(development=True)
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    return subprocess.call([BIN / "python", "tests/fuzz/run.py"], cwd=ROOT, env=variables)


def test_cluster() -> int:
    """Boot the virtual cluster and move bytes between two pods of it."""
    environment(development=True)
    return subprocess.call([BIN / "python", "-m", "pytest", "-m", "cluster"], cwd=ROOT)


def bench() -> int:
    """Print the figures of benchmarks/."""
    environment(development=True)
    return subprocess.call([BIN / "python", "benchmarks/run.py"], cwd=ROOT)


def docs() -> int:
    """Write the generated pages."""
    environment(development=True)
    tool("python", "docs/generate.py")
    return 0


def golden() -> int:
    """Write the golden files again."""
    environment(development=True)
    return subprocess.call(
        [BIN / "python", "-m", "pytest", "tests/unit/manifests", "tests/golden"],
        cwd=ROOT,
        env={**os.environ, "RAILWRIGHT_UPDATE_GOLDEN": "1"},
    )


def lock() -> int:
    """Resolve the dependencies again."""
    if not shutil.which("uv"):
        print("uv is needed to lock; install it with: pip install uv", file=sys.stderr)
        return 1
    common = [
        "--universal", "--python-version", "3.11", "--generate-hashes",
        "--no-emit-index-url", "--no-annotate", "--no-header", "--quiet", "--upgrade",
    ]  # fmt: skip
    for name, source in (("run", ["pyproject.toml"]), ("dev", ["pyproject.toml", "--group", "dev"])):
        run(["uv", "pip", "compile", *source, *common, "-o", f"requirements/{name}.txt"])
    with tempfile.NamedTemporaryFile("w", suffix=".in") as build:
        build.write("hatchling>=1.27\neditables>=0.5\n")
        build.flush()
        run(["uv", "pip", "compile", build.name, *common, "-o", "requirements/build.txt"])
    return 0


def format_code() -> int:
    """Let ruff do what it can do safely."""
    environment(development=True)
    tool("ruff", "format", ".")
    tool("ruff", "check", "--fix", ".")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
