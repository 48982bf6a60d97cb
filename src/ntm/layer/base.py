"""Base class of networks that run whole sequences: arguments, engine, loading and saving."""

from pathlib import Path
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn

from ntm.common.lazy import later
from ntm.description import Description
from ntm.engine import EngineName, checked_name
from ntm.layer import checks, forms, rebuilding
from ntm.layer.forms import Lengths, Sequences

# Functions of a higher layer: named as text, and imported by the first call.
_load_network = later("ntm.runs.packaged:load_network")
_save_network = later("ntm.runs.saving:save")
_push_network = later("ntm.runs.hub:push")


class SequenceNetwork(nn.Module):
    """Network with a config, an initialisation and a learned start, called like `nn.LSTM`."""

    config: Any
    initialisation: Any
    batch_first: bool
    _state: type[NamedTuple]

    @classmethod
    def from_config(
        cls,
        config: Any,
        initialisation: Any = None,
        *,
        batch_first: bool = False,
        engine: EngineName = "auto",
    ) -> Self:
        """Return a freshly initialised network with this config.

        initialisation: initial values of the weights (None: the default of the class).

        The method calls the class with keyword arguments: the fields of `config` and
        `initialisation`, `batch_first` and `engine`. A subclass whose `__init__` takes other
        arguments needs its own `from_config`.
        """
        others = {"batch_first": batch_first, "engine": engine}
        return rebuilding.build(cls, config, initialisation, **others)

    @classmethod
    def from_pretrained(
        cls,
        name: str | Path,
        *,
        revision: str | None = None,
        batch_first: bool | None = None,
        engine: EngineName = "auto",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> Self:
        """Return a trained network.

        name: a packaged network, such as "copy-ff"; a folder that `save_pretrained` wrote; or a
            repository on the Hugging Face hub, such as "org/name", if there is no such folder.
        revision: branch, tag or commit of the repository on the hub (None: the main branch).
        batch_first: whether x is (batch, time, input_size) (as saved; False if packaged).
        device: device of the parameters (the CPU, whatever torch's default device is).
        dtype: dtype of the parameters (as in the file, whatever torch's default dtype is).

        `ntm.pretrained.names()` lists the packaged networks; `ntm.pretrained.facts(name)` returns
        the task and the cost of a network. A subclass loads its own networks and the networks of
        its base classes. The parameters require gradients as in a new network.
        """
        chosen: dict[str, Any] = {"engine": engine, "device": device, "dtype": dtype}
        net: Self = _load_network(cls, name, revision, batch_first=batch_first, **chosen)
        return net

    def save_pretrained(self, folder: str | Path, *, task: Any = None) -> None:
        """Write the weights (safetensors), the config, `batch_first` and `backward_clip` (JSON).

        Raise an error if a file could not restore the network: replaced modules, hooks, values that
        are not in the config.

        task: an `ntm.tasks.Task` to record for the commands (None: the commands need --task).
        """
        _save_network(self, folder, task)

    def push_to_hub(
        self,
        name: str,
        *,
        task: Any = None,
        private: bool | None = None,
        message: str = "Save the network",
    ) -> str:
        """Save the network on the Hugging Face hub; return the address of the commit.

        name: a repository, such as "org/name"; it is created if it does not exist.
        task: an `ntm.tasks.Task` to record, as in `save_pretrained` (None).
        private: whether a new repository is private (None: as the organisation chose).
        message: subject of the commit ("Save the network").

        `from_pretrained(name)` loads the network again. Both need the extra `hub`:
        pip install 'neural-turing-machines[hub]'.
        """
        address: str = _push_network(self, name, task, private=private, message=message)
        return address

    @property
    def engine(self) -> EngineName:
        """Requested engine. `ntm.engine.choose` returns the engine that runs, and the reason."""
        return self._engine

    @engine.setter
    def engine(self, name: EngineName) -> None:
        self._engine = checked_name(name)

    def _described(self) -> Description:
        """Return the description of the network."""
        raise NotImplementedError

    def _prepared(
        self, x: Sequences, state: Any, lengths: Lengths, like: Tensor
    ) -> tuple[Tensor, Any, Tensor | None]:
        """Return the checked arguments as a padded batch, time first; a state of None stays None.

        like: a parameter, whose dtype and device the arguments must have.
        """
        checks.require_input(x, self.config.input_size, self.batch_first, like)
        seen, lengths = forms.padded(x, lengths, self.batch_first)
        steps, batch_size = seen.shape[:2]
        lengths = checks.checked_lengths(lengths, batch_size, steps, seen.device)
        checks.require_finite(seen, lengths)
        if state is not None:
            batch = None if forms.is_unbatched(x) else batch_size
            shapes = self._described().state_shapes
            checks.require_parts(state, self._state, shapes, batch, like)
            state = forms.batched(x, state)
        return seen, state, lengths

    def _counted(self) -> str:
        """Return the number of parameters, the engine and `batch_first`, for `print(net)`."""
        count = sum(parameter.numel() for parameter in self.parameters())
        order = ", batch_first=True" if self.batch_first else ""
        return f"{count:,} parameters, engine={self.engine!r}{order}"
