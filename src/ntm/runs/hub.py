"""Networks on the Hugging Face hub: `NTM.from_pretrained("org/name")` and `net.push_to_hub`.

A repository on the hub holds the two files that `save_pretrained` writes. Only these two files are
downloaded, and they are read like any saved network, so no code from the hub is run. The package
huggingface_hub transfers the files. It uses its own cache and tokens, and obeys its environment
variables: HF_HOME, HF_TOKEN, HF_ENDPOINT and HF_HUB_OFFLINE.
"""

import importlib
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ntm.common.text import first_line
from ntm.runs import saving

FILES = ("config.json", "model.safetensors")
_CARD = """---
library_name: ntm
---

A Neural Turing Machine, saved by `push_to_hub`. To load it:

    net = {kind}.from_pretrained("{name}")
"""


def folder_of(name: str | Path, revision: str | None = None) -> Path:
    """Return the folder of a saved network; download the network if it is on the hub.

    name: a folder, or a repository on the hub. A folder of that name has precedence.
    revision: branch, tag or commit of the repository (None: the main branch).
    """
    if not _is_repository(name):
        if revision is not None:
            raise ValueError(f"revision is for a repository on the hub; {name} is a folder.")
        return Path(name)
    try:
        hub = _library()
        folder = Path(hub.snapshot_download(name, revision=revision, allow_patterns=list(FILES)))
    except (ImportError, OSError) as error:
        raise FileNotFoundError(
            f"There is no folder {name}, and the Hugging Face hub gave no network of this name: "
            f"{first_line(error)}."
        ) from error
    if not (folder / FILES[0]).is_file():
        raise FileNotFoundError(f"{name} on the Hugging Face hub is no network: no {FILES[0]}.")
    return folder


def push(net: Any, name: str, task: Any = None, *, private: bool | None, message: str) -> str:
    """Save a network in a repository on the hub; return the address of the commit."""
    hub = _library()
    with TemporaryDirectory() as folder:
        saving.save(net, folder, task)
        hub.create_repo(name, private=private, exist_ok=True)
        if not hub.file_exists(name, "README.md"):
            card = _CARD.format(kind=type(net).__name__, name=name)
            Path(folder, "README.md").write_text(card)
        done = hub.upload_folder(repo_id=name, folder_path=folder, commit_message=message)
    return str(done.commit_url)


def _is_repository(name: str | Path) -> bool:
    """Return whether a name looks like "org/name" and no folder has this name."""
    words = r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*"
    return isinstance(name, str) and bool(re.fullmatch(words, name)) and not Path(name).exists()


def _library() -> Any:
    """Import huggingface_hub; the error names the extra that installs it."""
    try:
        return importlib.import_module("huggingface_hub")
    except ImportError as error:
        raise ImportError(
            f"{error}; install it with: pip install 'neural-turing-machines[hub]'"
        ) from error
