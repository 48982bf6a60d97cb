"""Search for a learning rate, momentum and memory size with Optuna, a few seeds per trial.

    pip install optuna
    python examples/search_optuna.py --task copy --trials 20 --out runs/search

Optuna proposes settings, and `ntm.scale.execute` trains them. The median cost over the seeds
counts, because one lucky seed proves nothing. The study is stored with the runs: the same command
adds more trials.
"""

import argparse
import statistics
from collections.abc import Callable
from pathlib import Path

import optuna

from ntm.runs import Settings
from ntm.scale import Job, execute
from ntm.training import paper_settings


def main() -> None:
    """Search, and print the best trial."""
    options = parse_options()
    options.out.mkdir(parents=True, exist_ok=True)
    study = optuna.create_study(
        study_name=f"{options.task}-{options.model}",
        storage=f"sqlite:///{options.out / 'study.db'}",
        sampler=optuna.samplers.TPESampler(seed=1),
        load_if_exists=True,
    )
    study.optimize(objective(options), n_trials=options.trials)
    print(f"Trial {study.best_trial.number}: {study.best_value:.4f} bits per sequence")
    for key, value in study.best_params.items():
        print(f"  --set {key}={value}")


def parse_options() -> argparse.Namespace:
    """Parse the options of the search."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--task", default="copy")
    parser.add_argument("--model", default="ntm-ff")
    parser.add_argument("--sequences", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--ray", metavar="ADDRESS", help="train on a Ray cluster")
    parser.add_argument("--out", type=Path, default=Path("runs/search"))
    return parser.parse_args()


def objective(options: argparse.Namespace) -> Callable[[optuna.Trial], float]:
    """Return the objective: the median cost of a trial's runs."""
    fixed = {"sequences": options.sequences, "threads": 1}
    base = paper_settings(options.task, options.model).with_(training=fixed)

    def cost(trial: optuna.Trial) -> float:
        settings = base.with_text(proposal(trial, base))
        jobs = [
            Job(
                settings.with_(training={"seed": seed}),
                options.out / f"trial-{trial.number}-seed-{seed}",
            )
            for seed in range(1, options.seeds + 1)
        ]
        costs = [outcome.best_bits for outcome in execute(jobs, ray=options.ray)]
        if None in costs:
            raise optuna.TrialPruned("A run diverged or was interrupted.")
        return statistics.median(costs)

    return cost


def proposal(trial: optuna.Trial, base: Settings) -> dict[str, str]:
    """Return the settings to try, by their names in `ntm train --set`."""
    values = {
        "optimiser.learning_rate": trial.suggest_float(
            "optimiser.learning_rate", 1e-5, 1e-3, log=True
        ),
        "optimiser.momentum": trial.suggest_float("optimiser.momentum", 0.5, 0.99),
    }
    if base.model_name != "lstm":
        sizes = [32, 64, 128]
        values["model.memory_locations"] = trial.suggest_categorical(
            "model.memory_locations", sizes
        )
    return {key: str(value) for key, value in values.items()}


if __name__ == "__main__":
    main()
