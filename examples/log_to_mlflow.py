"""A run's learning curve on MLflow.

pip install mlflow
python examples/log_to_mlflow.py
"""

from typing import Any

import mlflow

from ntm.training import Observer, make_progress, settings_for, train


class MLflow(Observer):
    """Logs every report of a run."""

    def started(self, run: Any) -> None:
        """Begin with all settings of the run."""
        mlflow.start_run()
        mlflow.log_params(run.settings.flat())

    def reported(self, run: Any, line: dict[str, Any]) -> None:
        """Log the numbers of a report over the sequences."""
        mlflow.log_metrics(line, step=line["sequences"])

    def close(self) -> None:
        """End the run, after an error too."""
        mlflow.end_run()


if __name__ == "__main__":
    train(settings_for("copy"), progress=make_progress(), observers=[MLflow()])
