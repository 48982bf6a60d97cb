"""Section 4.1: copy."""

from ntm.paper import parts
from ntm.paper.experiment import Beside, Experiment, FigureSpec, Goal, Plan, Widths, later

LONG = {"length": 120}

EXPERIMENT = Experiment(
    task="copy",
    title="Copy",
    widths=Widths(10, 9),
    networks={
        "ntm-ff": Plan(
            parts.sizes(),
            1e-4,
            17_162,
            start={"head_gain": 0.25},
            tuned=parts.tuned(20_000),
            quick=20_000,
        ),
        "ntm-lstm": Plan(
            parts.sizes(),
            1e-4,
            67_561,
            tuned=parts.tuned(20_000, 12_000, 2_000, optimiser={"learning_rate": 2e-4}),
            quick=20_000,
        ),
        "lstm": parts.baseline(256, 3e-5, 1_352_969, quick=3_200),
    },
    cases=({}, *({"length": length} for length in (10, 20, 30, 50)), LONG),
    goals=(Goal(parts.NTMS, below=0.01, within=20_000), Goal(parts.NTMS, LONG, perfect=0.99)),
    figures=(
        parts.curves_figure(
            3,
            "copy",
            "NTM with either controller learns much faster than LSTM alone, and converges to a "
            "lower cost.",
        ),
        FigureSpec(
            "copy generalisation ntm",
            later("ntm.figures.kinds:answers", models=parts.NTMS),
            4,
            "Trained on up to 20 vectors, the paper's network copies up to 50 with very few "
            "mistakes. At 120 a vector is duplicated, and all that follow are one step late.",
            (Beside("beyond", parts.NTMS),),
        ),
        FigureSpec(
            "copy generalisation lstm",
            later("ntm.figures.kinds:answers", models=("lstm",)),
            5,
            "The paper's LSTM copies up to length 20 almost perfectly and clearly fails beyond.",
            (Beside("beyond", ("lstm",)),),
        ),
        parts.memory_figure(
            6,
            "copy",
            "Inputs are written to one location after another, and read again from the same "
            "locations in the same order.",
            at={"length": 20},
        ),
    ),
    analysis=later("ntm.paper.heads.copying:analyse_copying"),
    frame=(0, 10),
    curves=parts.published("copy"),
    hint="Click or drag over cells. The network hears this, then has to say it again.",
    look_for="while it listens, the write head gives every vector a location of its own. After the "
    "delimiter the read head goes back to the first of them and walks the same way again.",
    drawing="vectors",
)
