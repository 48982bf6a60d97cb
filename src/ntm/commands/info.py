"""ntm info: versions, engines and why, vector instructions, threads."""

import argparse

from ntm.commands.base import add_json, print_facts

HELP = "Versions, engines and why, vector instructions, threads"

add_arguments = add_json


def run(options: argparse.Namespace) -> int:
    """Print what is installed and available."""
    import platform

    import torch

    import ntm
    from ntm import engine

    choice = engine.choose("auto", torch.device("cpu"), torch.float32)
    native = engine.native.loaded()
    facts = {
        "ntm": ntm.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "platform": platform.platform(),
        "engine": choice.name,
        "engine_reason": choice.reason,
        "instructions": native.target,
        "instructions_reason": native.reason,
        "native_build": engine.native.build_summary(),
        "threads": torch.get_num_threads(),
        "cuda": torch.cuda.is_available(),
    }
    print_facts(facts, options.json)
    return 0
