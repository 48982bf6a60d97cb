"""What is trained: the paper's fifteen networks, until they have learned or for a few minutes."""

from collections.abc import Iterable

from ntm.training import MODELS, PaperNetwork, Settings, paper_network, settings_for
from ntm.training.fields import unknown

PAPER_TASKS = ("copy", "repeat-copy", "associative-recall", "ngrams", "priority-sort")

# Sequences that take each network 10 to 45 seconds of one core.
_QUICK = {
    ("copy", "ntm-ff"): 20_000,
    ("copy", "ntm-lstm"): 20_000,
    ("copy", "lstm"): 3_200,
    ("repeat-copy", "ntm-ff"): 50_000,
    ("repeat-copy", "ntm-lstm"): 20_000,
    ("repeat-copy", "lstm"): 640,
    ("associative-recall", "ntm-ff"): 30_000,
    ("associative-recall", "ntm-lstm"): 20_000,
    ("associative-recall", "lstm"): 3_200,
    ("ngrams", "ntm-ff"): 20_000,
    ("ngrams", "ntm-lstm"): 12_000,
    ("ngrams", "lstm"): 2_000,
    ("priority-sort", "ntm-ff"): 4_000,
    ("priority-sort", "ntm-lstm"): 8_000,
    ("priority-sort", "lstm"): 8_000,
}
# At batch size 1 the large LSTMs wait for their weights to come from the memory, sequence by
# sequence; in a few minutes they would not see enough of them to draw a curve.
_QUICK_LSTM_BATCH = 16
_QUICK_REPORTS = 20


def select(
    tasks: Iterable[str] | None = None, models: Iterable[str] | None = None
) -> list[PaperNetwork]:
    """The paper's networks for these tasks and models, in the paper's order; None means all."""
    chosen_tasks = _known("task in the paper", tasks, PAPER_TASKS)
    chosen_models = _known("model", models, MODELS)
    return [paper_network(task, model) for task in chosen_tasks for model in chosen_models]


def full_runs(networks: Iterable[PaperNetwork], seeds: int = 1) -> list[Settings]:
    """The settings of `ntm train` for these networks, for seeds 0 to seeds - 1."""
    return [
        settings_for(network.task, network.model).changed({"training.seed": str(seed)})
        for network in networks
        for seed in _consecutive(seeds)
    ]


def quick_runs(networks: Iterable[PaperNetwork], seeds: int = 1) -> list[Settings]:
    """The paper's networks trained for a few minutes in all: too short for its results."""
    return [
        settings.changed(_quick_changes(settings.task.name, settings.model_name))
        for settings in full_runs(networks, seeds)
    ]


def run_name(settings: Settings) -> str:
    """The name of a run's folder: copy-ntm-ff-0."""
    return f"{settings.task.name}-{settings.model_name}-{settings.training.seed}"


def _quick_changes(task: str, model: str) -> dict[str, str]:
    sequences = _QUICK[task, model]
    return {
        "training.sequences": str(sequences),
        "training.batch_size": str(_QUICK_LSTM_BATCH if model == "lstm" else 1),
        "training.starts": "1",
        "training.report_every": str(sequences // _QUICK_REPORTS),
        "training.validate_every": str(sequences // 4),
        "training.checkpoint_seconds": "10",
    }


def _known(what: str, names: Iterable[str] | None, known: tuple[str, ...]) -> list[str]:
    """The names in the order of `known`, each of which must be one."""
    wanted = known if names is None else tuple(names)
    for name in wanted:
        if name not in known:
            raise ValueError(unknown(what, name, known))
    return [name for name in known if name in wanted]


def _consecutive(seeds: int) -> range:
    if seeds < 1:
        raise ValueError(f"seeds must be at least 1; got {seeds}.")
    return range(seeds)
