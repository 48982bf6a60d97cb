"""Log a run's learning curve to Weights & Biases.

pip install wandb
python examples/log_to_wandb.py
"""

from typing import Any

import wandb

from ntm.training import Observer, make_progress, settings_for, train


class WandB(Observer):
    """Observer that logs every report of a run."""

    def __init__(self, project: str) -> None:
        self.project = project

    def started(self, run: Any) -> None:
        """Start with all settings of the run."""
        self.session = wandb.init(project=self.project, config=run.settings.flat())

    def reported(self, run: Any, line: dict[str, Any]) -> None:
        """Log the numbers of a report; the step is the number of sequences."""
        self.session.log(line, step=line["sequences"])

    def ended(self, run: Any) -> None:
        """Finish the session."""
        self.session.finish()


if __name__ == "__main__":
    train(settings_for("copy"), progress=make_progress(), observers=[WandB("ntm")])
