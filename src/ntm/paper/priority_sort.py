"""Section 4.5: priority sort."""

from ntm.paper import parts
from ntm.paper.experiment import Experiment, FigureSpec, Goal, Plan, Widths, later

EXPERIMENT = Experiment(
    task="priority-sort",
    title="Priority sort",
    widths=Widths(10, 8),
    networks={
        "ntm-ff": Plan(
            parts.sizes(512, heads=8),
            3e-5,
            508_305,
            tuned=parts.tuned(
                1_800_000,
                450_000,
                400_000,
                backward_clip=10.0,
                optimiser={"backward_clip_until": 1_310_000, **parts.FASTER},
                training={"batch_size": 16, "validate_every": 10_000, **parts.AVERAGED},
            ),
            quick=4_000,
        ),
        "ntm-lstm": Plan(
            parts.sizes(100, heads=5, layers=2),
            3e-5,
            269_038,
            tuned=parts.tuned(180_000, 130_000, 12_000),
            quick=8_000,
        ),
        "lstm": parts.baseline(128, 3e-5, 384_424, quick=8_000),
    },
    threshold=15.0,
    goals=(Goal(parts.NTMS, below=15.0),),
    figures=(
        FigureSpec(
            "sort example",
            later("ntm.paper.drawings.priority_sort:example"),
            16,
            "Vectors with priorities, and the 16 of highest priority in order.",
        ),
        parts.memory_figure(
            17,
            "sort",
            "A linear function of the priority tells where a vector is written; reads run through "
            "the locations in order.",
            "ntm.paper.drawings.priority_sort:memory",
        ),
        parts.curves_figure(
            18,
            "sort",
            "NTM with either controller substantially outperforms LSTM.",
        ),
    ),
    analysis=later("ntm.paper.heads.sorting:analyse_sorting"),
    frame=(0, 140),
    curves=parts.published("priority-sort"),
    hint="Draw vectors, and drag their priorities: the answer begins with the highest.",
    look_for="vectors are written to places that depend on their priorities, and the places are "
    "then read in order.",
    drawing="priorities",
)
