"""Facts about this machine, and the number of threads that torch and the engines use."""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from ntm import __version__
from ntm.engine import native


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let torch and the engines use this many threads within this context."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def machine() -> dict[str, str | int]:
    """Return facts about the machine, and the versions of the software."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "instructions": str(native.loaded().target),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "ntm": __version__,
    }


def _processor() -> str:
    """Return the name of the processor, which Linux has in a file."""
    described = Path("/proc/cpuinfo")
    lines = described.read_text().splitlines() if described.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
