"""What `railwright --help` shows; apart from the commands, so that it needs neither them nor the parser of options."""

COMMANDS = {
    "discover": "Read what is there; changes nothing.",
    "plan": "Show what would be done: stages, objects, risks, reasons, and the difference to the cluster.",
    "render": "Write the plan as files for kustomize and Argo CD.",
    "apply": "Do it: stage by stage, each with a gate; interrupt and resume at any time.",
    "status": "Show where each stage stands.",
    "verify": "Prove it: every node, every rail, host and GPU memory, with evidence.",
    "report": "Look at earlier runs of verify, compare two.",
    "doctor": "Say what is wrong, with evidence, cause and remedy: of a cluster, or of pasted text.",
    "clean": "Remove what apply made and put back what it changed; nothing else.",
    "workload": "Print the pod and job that use the rails, with everything they need.",
    "collect": "Write everything that discover and the doctor read into one file, redacted.",
    "images": "List every image the plan needs, as an oc-mirror image set.",
    "explain": "Say what a key of rails.yaml, an error, a stage or a rule means; --rbac: the least roles for a command.",
    "lab": "Move real RDMA bytes on this machine: soft-RoCE in a small virtual machine.",
    "demo": "The whole job on a simulated cluster; no cluster needed.",
}

PURPOSE = """Take a cluster with NVIDIA GPUs and ConnectX NICs to proven GPUDirect RDMA, and say why when it isn't.

Start with `railwright demo`: the whole job on a simulated cluster, no cluster needed.
"""

_OPTIONS = {
    "--help": "This text; `COMMAND --help` says what a command takes.",
    "--version": "The version of railwright.",
    "--install-completion": "Install completion for this shell.",
}


def overview(name: str = "railwright") -> str:
    """Write the text; `name` is how the person called the program ("oc railwright")."""
    width = max(map(len, (*COMMANDS, *_OPTIONS)))
    commands, options = (
        "".join(f"  {key:<{width}}  {meaning}\n" for key, meaning in table.items()) for table in (COMMANDS, _OPTIONS)
    )
    return f"Usage: {name} COMMAND [OPTIONS]\n\n{PURPOSE}\nCommands:\n{commands}\nOptions:\n{options}"
