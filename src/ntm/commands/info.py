"""ntm info: show versions, the chosen engine and its reason, vector instructions and threads."""

import argparse
import warnings
from typing import TYPE_CHECKING

from ntm.commands.base import add_json, print_facts

if TYPE_CHECKING:
    from ntm.engine import Choice

HELP = "Show versions, the chosen engine, vector instructions and threads"

add_arguments = add_json


def run(options: argparse.Namespace) -> int:
    """Print the facts about this installation."""
    import platform

    import torch

    import ntm
    from ntm import engine, torch_names

    choice = _tried_engine()
    native = engine.native.loaded()
    facts = {
        "ntm": ntm.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "torch_supported": f"{torch_names.OLDEST} and newer",
        "torch_tested": ", ".join(torch_names.TESTED),
        "torch_lacks": _lacking(torch_names.MISSING),
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


def _lacking(missing: dict[str, str]) -> str:
    return "; ".join(f"{name}: {then}" for name, then in missing.items()) or "nothing"


def _tried_engine() -> "Choice":
    """Return the default engine after a trial run, or the reason why the trial failed."""
    import torch

    from ntm import NTM, engine

    try:
        net = NTM(1, 1, controller_size=1, memory_locations=1, memory_width=1).float().cpu()
        choice = engine.choose("auto", torch.device("cpu"), torch.float32, net)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a faster engine warns when it gives up
            net(torch.zeros(1, 1, 1, dtype=torch.float32))[0].sum().backward()
    except Exception as error:  # any error is the answer to report
        return engine.Choice("none", f"a small network fails: {error}")
    return choice
