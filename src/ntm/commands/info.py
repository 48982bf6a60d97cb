"""Show versions, the chosen engine, vector instructions and threads."""

import argparse
import warnings
from typing import TYPE_CHECKING, Any

from ntm.commands import base

if TYPE_CHECKING:
    from ntm.engine import Choice


add_arguments = base.add_json


def run(options: argparse.Namespace) -> None:
    """Print the facts about this installation."""
    base.print_facts(_versions() | _engine(), options.json)


def _versions() -> dict[str, Any]:
    import platform

    import torch

    from ntm import __version__, torch_names

    lacking = [f"{name}: {then}" for name, then in torch_names.MISSING.items()]
    return {
        "ntm": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "torch_supported": f"{torch_names.OLDEST} and newer",
        "torch_tested": ", ".join(torch_names.TESTED),
        "torch_lacks": "; ".join(lacking) or "nothing",
        "platform": platform.platform(),
    }


def _engine() -> dict[str, Any]:
    import torch

    from ntm.engine import native

    choice, loaded = _tried_engine(), native.loaded()
    return {
        "engine": choice.name,
        "engine_reason": choice.reason,
        "instructions": loaded.target,
        "instructions_reason": loaded.reason,
        "native_build": native.build_summary(),
        "threads": torch.get_num_threads(),
        "cuda": torch.cuda.is_available(),
    }


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
