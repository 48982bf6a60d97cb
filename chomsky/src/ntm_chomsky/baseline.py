"""Setting of the LSTM baseline, the same for every task."""

from ntm.paper import Plan

_SEQUENCES = 200_000

BASELINE = Plan(
    sizes={"hidden_size": 128, "layers": 1},
    start={"forget_bias": 1.0},
    quick=16_000,
    quick_batch=16,
    tuned={
        "training": {
            "sequences": _SEQUENCES,
            "batch_size": 16,
            "bucketed": True,
            "mixture": f"share=0.9,growing_until={_SEQUENCES // 2},length=5",
            "validate_every": 20_000,
            "validation_sequences": 100,
        },
        "optimiser": {
            "learning_rate": 1e-3,
            "backward_clip": 1.0,
            "halve_after": 3 * _SEQUENCES // 5,
            "halve_every": _SEQUENCES // 15,
        },
    },
)
