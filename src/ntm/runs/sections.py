"""The optimiser and training sections of the settings."""

from dataclasses import dataclass

from ntm import engine
from ntm.common.fields import Checked, setting
from ntm.tasks import Task


@dataclass(frozen=True)
class OptimiserSettings(Checked):
    """Settings of Graves' RMSProp; the defaults are the paper's."""

    learning_rate: float = setting(1e-4, "learning rate", at_least=0)
    halve_every: int = setting(
        0, "half-life of the learning rate, in sequences (0: constant rate)", at_least=0
    )
    halve_after: int = setting(0, "sequences before the learning rate starts to fall", at_least=0)
    decay: float = setting(
        0.95, "decay of the running means of the gradient and its square", at_least=0, at_most=1
    )
    momentum: float = setting(0.9, "momentum", at_least=0, at_most=1)
    epsilon: float = setting(
        1e-4,
        "constant inside the square root: the update is divided by sqrt(variance of the gradient + "
        "epsilon)",
        above=0,
    )
    clip: float | None = setting(10.0, "clip gradients to +- this value (none: never)", above=0)
    backward_clip: float | None = setting(
        None,
        "clip the gradients at the outputs of the linear maps of controller and heads to +- this "
        "value, at every time step (none: never)",
        above=0,
    )
    backward_clip_until: int | None = setting(
        None, "sequences after which backward_clip is switched off (none: never)", at_least=1
    )

    def rate_after(self, sequences: int) -> float:
        """Return the learning rate after this many sequences."""
        if self.halve_every == 0:
            return self.learning_rate
        halvings = max(0, sequences - self.halve_after) / self.halve_every
        return float(self.learning_rate * 0.5**halvings)

    def backward_clip_after(self, sequences: int) -> float | None:
        """Return the bound on the backward pass after this many sequences; None for no bound."""
        until = self.backward_clip_until
        return self.backward_clip if until is None or sequences < until else None


@dataclass(frozen=True)
class TrainingSettings(Checked):
    """Length of a run, its batches, and its intervals for reports, validation and checkpoints."""

    sequences: int = setting(
        1_000_000,
        "sequences to train on, rounded up to whole batches (if training.starts is above 1: "
        "sequences of the start that continues, including its trial)",
        at_least=1,
    )
    batch_size: int = setting(1, "sequences per update", at_least=1)
    bucketed: bool = setting(
        False, "put sequences of similar length into a batch; faster for the LSTM baseline"
    )
    memory_locations: int | None = setting(
        None,
        "memory locations while training, at most model.memory_locations (none: equal to it); "
        "validation always uses model.memory_locations",
        at_least=1,
    )
    seed: int = setting(1, "random seed of the initial weights and all data", at_least=0)
    engine: str = setting(
        "auto", "engine: native (C++), reference (PyTorch) or auto", choices=engine.names
    )
    device: str = setting("cpu", "device to train on: cpu, cuda, cuda:1, ...")
    threads: int = setting(0, "threads for torch (0: torch's own choice)", at_least=0)
    report_every: int = setting(1000, "sequences between lines of metrics.jsonl", at_least=1)
    validate_every: int = setting(
        10_000,
        "validate at the first report after every this many sequences (0: only at the end of a "
        "trial)",
        at_least=0,
    )
    validation_sequences: int = setting(
        100,
        "size of the validation set; the weights with the lowest mean cost on it become "
        "best.safetensors",
        at_least=1,
    )
    validate_beyond: str = setting(
        "",
        "also validate at these sizes, such as length=60; their cost adds to the validation cost "
        "(empty: never)",
    )
    mixture: str = setting(
        "",
        "smaller problems at first: share=0.5,until=40000,length=3 limits half of the batches to "
        "lengths of at most 3, for the first 40,000 sequences (empty: none)",
    )
    start_from: str | None = setting(
        None,
        "start from the weights of this run, saved network or packaged network (none: random)",
    )
    starts: int = setting(
        1, "sets of initial weights (starts) to try; the best one continues", at_least=1
    )
    trial_sequences: int = setting(10_000, "sequences to try each start on", at_least=1)
    enough_bits: float = setting(
        0.0,
        "stop the trials when a start is below this validation cost (0: try all starts)",
        at_least=0,
    )
    average_share: float = setting(
        0.0,
        "share of the training so far over which the weights are averaged; validation takes the "
        "better of this mean and the current weights (0: no mean)",
        at_least=0,
        at_most=1,
    )
    checkpoint_seconds: float = setting(30.0, "seconds between checkpoints", at_least=0)
    picture_seconds: float = setting(
        30.0, "seconds between pictures of an answer on the terminal (0: none)", at_least=0
    )
    stop_when_solved: bool = setting(
        False, "stop early if the training cost stays below solved_bits; ignores the task's goals"
    )
    solved_bits: float = setting(
        0.01,
        "training cost in bits for stop_when_solved: every report must be below it",
        at_least=0,
    )
    solved_window: int = setting(
        10_000,
        "for stop_when_solved: number of sequences over which every report must be below "
        "solved_bits",
        at_least=1,
    )
    stop_after_seconds: float | None = setting(
        None, "stop after this many seconds; the run can be resumed (none: no limit)", above=0
    )

    @property
    def has_trials(self) -> bool:
        """Whether the run tries several starts; a run shorter than one trial has a single start."""
        return self.starts > 1 and self.sequences >= self.trial_sequences

    @property
    def trial_length(self) -> int:
        """Number of sequences per trial, rounded up to whole batches."""
        return -(-self.trial_sequences // self.batch_size) * self.batch_size

    @property
    def most_sequences(self) -> int:
        """Number of sequences of the whole run if every start is tried, in whole batches."""
        whole = -(-self.sequences // self.batch_size) * self.batch_size
        return whole + (self.starts - 1) * self.trial_length if self.has_trials else whole


def beyond_task(task: Task, at: str) -> Task | None:
    """Return the task at sizes beyond its trained range, such as `length=60`; None if empty."""
    if not at:
        return None
    pairs = [pair.partition("=") for pair in at.replace(" ", "").split(",")]
    if not all(value.isdecimal() for _, _, value in pairs):
        raise ValueError(
            f"training.validate_beyond is {at!r}, but it takes axes of the task with their values, "
            f"such as length=60 or length=15,repeats=10."
        )
    return task.at(**{axis: int(value) for axis, _, value in pairs})
