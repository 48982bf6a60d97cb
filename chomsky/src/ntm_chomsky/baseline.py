"""Setting of the LSTM baseline, the same for every task."""

from ntm.paper import Plan

_SEQUENCES = 100_000

BASELINE = Plan(
    sizes={"hidden_size": 64, "layers": 1},
    start={"forget_bias": 1.0},
    quick=16_000,
    quick_batch=8,
    tuned={
        "training": {
            "sequences": _SEQUENCES,
            "batch_size": 8,
            "bucketed": True,
            "average_share": 0.1,
            "mixture": f"share=0.5,until={3 * _SEQUENCES // 5},length=5",
            "validate_every": 10_000,
            "validation_sequences": 100,
        },
        "optimiser": {
            "learning_rate": 1e-3,
            "epsilon": 1e-6,
            "backward_clip": 1.0,
            "halve_after": 3 * _SEQUENCES // 5,
            "halve_every": _SEQUENCES // 15,
        },
    },
)
