"""Two of the five sections of settings: how a run updates its weights, and how it trains."""

from dataclasses import dataclass

from ntm import engine
from ntm.common.fields import Checked, setting
from ntm.tasks import Task


@dataclass(frozen=True)
class OptimiserSettings(Checked):
    """Graves' RMSProp; the defaults are the paper's."""

    learning_rate: float = setting(1e-4, "learning rate", at_least=0)
    halve_every: int = setting(
        0, "half-life of the learning rate, in sequences (0: constant)", at_least=0
    )
    halve_after: int = setting(0, "sequences before the learning rate begins to fall", at_least=0)
    decay: float = setting(
        0.95, "decay of the running means of the gradient and its square", at_least=0, at_most=1
    )
    momentum: float = setting(0.9, "momentum", at_least=0, at_most=1)
    epsilon: float = setting(1e-4, "added to the variance, inside the root", above=0)
    clip: float | None = setting(
        10.0, "every component of the gradient is clipped to +- this first", above=0
    )
    backward_clip: float | None = setting(
        None,
        "bound on the gradient that flows back through an NTM's controller and heads, per step and "
        "sequence",
        above=0,
    )
    backward_clip_until: int | None = setting(
        None, "sequences after which backward_clip no longer applies", at_least=1
    )

    def rate_after(self, sequences: int) -> float:
        """The learning rate after so many sequences."""
        if self.halve_every == 0:
            return self.learning_rate
        halvings = max(0, sequences - self.halve_after) / self.halve_every
        return float(self.learning_rate * 0.5**halvings)

    def backward_clip_after(self, sequences: int) -> float | None:
        """The bound on the backward pass after so many sequences."""
        until = self.backward_clip_until
        return self.backward_clip if until is None or sequences < until else None


@dataclass(frozen=True)
class TrainingSettings(Checked):
    """How long, in what batches, and how often to report, validate and save."""

    sequences: int = setting(
        1_000_000, "sequences to train on, rounded up to whole batches", at_least=1
    )
    batch_size: int = setting(1, "sequences per update", at_least=1)
    bucketed: bool = setting(
        False, "batches of nearly equal lengths, which torch runs an LSTM faster on"
    )
    memory_locations: int | None = setting(
        None,
        "memory locations while a network trains, at most; it is validated and saved with all that "
        "it has",
        at_least=1,
    )
    seed: int = setting(1, "decides the initial weights and all data", at_least=0)
    engine: str = setting(
        "auto", "engine that runs an NTM, or trains an LSTM", choices=engine.names
    )
    device: str = setting("cpu", "where to train: cpu, cuda, cuda:1, ...")
    threads: int = setting(0, "threads for torch (0: torch's own choice)", at_least=0)
    report_every: int = setting(1000, "sequences between lines of metrics.jsonl", at_least=1)
    validate_every: int = setting(
        10_000,
        "sequences between validations, made at the next report (0: never)",
        at_least=0,
    )
    validation_sequences: int = setting(
        100,
        "fresh sequences, always the same, whose mean cost chooses best.safetensors",
        at_least=1,
    )
    validate_beyond: str = setting(
        "",
        "axes of the task, such as length=60: validation adds the cost of as many sequences fixed "
        "at these values, beyond what is trained on; nothing adds none",
    )
    start_from: str | None = setting(
        None,
        "network whose weights the run starts from, instead of fresh ones: a run folder, a saved "
        "network or a packaged one",
    )
    starts: int = setting(
        1, "initialisations to try: each has a trial, and the best continues", at_least=1
    )
    trial_sequences: int = setting(10_000, "sequences of a trial", at_least=1)
    enough_bits: float = setting(
        0.0, "a start whose validation cost is below this continues at once", at_least=0
    )
    average_share: float = setting(
        0.0,
        "validate a running mean of the weights, too, over about this share of the training so "
        "far, and keep the better one (0: no mean)",
        at_least=0,
        at_most=1,
    )
    checkpoint_seconds: float = setting(30.0, "seconds between checkpoints", at_least=0)
    picture_seconds: float = setting(
        30.0, "seconds between pictures of an answer on a terminal (0: none)", at_least=0
    )
    stop_when_solved: bool = setting(False, "stop early, once the task is solved")
    solved_bits: float = setting(
        0.01, "solved means: every report below this many bits per sequence ...", at_least=0
    )
    solved_window: int = setting(10_000, "... over this many sequences", at_least=1)
    stop_after_seconds: float | None = setting(
        None, "stop after this many seconds; the run can be resumed", above=0
    )

    @property
    def has_trials(self) -> bool:
        """Whether several starts are tried: a run that is shorter than a trial has one."""
        return self.starts > 1 and self.sequences >= self.trial_sequences

    @property
    def trial_length(self) -> int:
        """Sequences of a trial, in whole batches."""
        return -(-self.trial_sequences // self.batch_size) * self.batch_size

    @property
    def most_sequences(self) -> int:
        """Sequences of the whole run, in whole batches, if every start is tried."""
        whole = -(-self.sequences // self.batch_size) * self.batch_size
        return whole + (self.starts - 1) * self.trial_length if self.has_trials else whole


def beyond_task(task: Task, at: str) -> Task | None:
    """The task at a size beyond its trained range, such as `length=60`; None if `at` is empty."""
    if not at:
        return None
    pairs = [pair.partition("=") for pair in at.replace(" ", "").split(",")]
    if not all(value.isdecimal() for _, _, value in pairs):
        raise ValueError(
            f"training.validate_beyond is {at!r}, but it takes axes of the task with their values, "
            f"such as length=60 or length=15,repeats=10."
        )
    return task.at(**{axis: int(value) for axis, _, value in pairs})
