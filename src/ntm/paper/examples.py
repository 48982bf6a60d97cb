"""Settings for a file of examples."""

from ntm.paper.settings import settings_for
from ntm.runs import Settings
from ntm.tasks import Examples

_FEWEST, _MOST, _PASSES = 50_000, 500_000, 20


def settings_for_examples(task: Examples, model: str = "ntm-ff") -> Settings:
    """Return the settings of `ntm train FILE`: about twenty passes over the lines of the file."""
    sequences = min(max(_FEWEST, _PASSES * task.problems), _MOST)
    valid = min(task.for_validation.problems, 1000)
    return settings_for(task, model).with_(
        training={
            "sequences": sequences,
            "batch_size": 16,
            "bucketed": True,
            "validate_every": sequences // 20,
            "validation_sequences": valid,
        },
        optimiser={"learning_rate": 1e-3},
    )
