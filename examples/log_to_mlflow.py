"""Log a run's learning curve to MLflow.

pip install mlflow
python examples/log_to_mlflow.py
"""

from typing import Any

import mlflow

from ntm.training import Observer, make_progress, settings_for, train


class MLflow(Observer):
    """Observer that logs every report of a run."""

    def started(self, run: Any) -> None:
        """Start with all settings of the run."""
        mlflow.start_run()
        mlflow.log_params(run.settings.flat())

    def reported(self, run: Any, line: dict[str, Any]) -> None:
        """Log the numbers of a report; the step is the number of sequences."""
        mlflow.log_metrics(line, step=line["sequences"])

    def close(self) -> None:
        """End the run, also after an error."""
        mlflow.end_run()


if __name__ == "__main__":
    train(settings_for("copy"), progress=make_progress(), observers=[MLflow()])
