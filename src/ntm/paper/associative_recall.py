"""Section 4.3: associative recall."""

from ntm.paper import parts
from ntm.paper.experiment import Beside, Experiment, FigureSpec, Goal, Plan, Widths, later

# As in the paper, rather an LSTM controller: its single head is the easier to follow.
WATCHED = tuple(reversed(parts.NTMS))

EXPERIMENT = Experiment(
    task="associative-recall",
    title="Associative recall",
    widths=Widths(8, 6),
    networks={
        "ntm-ff": Plan(
            parts.sizes(256, heads=4),
            1e-4,
            146_845,
            start=parts.SHARP_AND_TOGETHER,
            tuned=parts.tuned(50_000, 25_000, 5_000, optimiser={"backward_clip_until": 25_000}),
            quick=30_000,
        ),
        "ntm-lstm": Plan(
            parts.sizes(), 1e-4, 70_330, tuned=parts.tuned(300_000, 200_000, 15_000), quick=20_000
        ),
        "lstm": parts.baseline(256, 1e-4, 1_344_518, quick=3_200),
    },
    cases=({}, *({"items": items} for items in (6, 8, 10, 12, 15, 20))),
    goals=(
        Goal(("ntm-ff",), below=0.01, within=50_000),
        Goal(("ntm-lstm",), below=0.01),
        *(
            Goal(("ntm-ff",), {"items": items}, published=bits)
            for items, bits in ((10, 0.14), (15, 1.47), (20, 8.0))
        ),
    ),
    figures=(
        parts.curves_figure(
            10,
            "recall",
            "NTM is near zero cost within about 30,000 sequences; LSTM is not after a million.",
        ),
        FigureSpec(
            "recall generalisation",
            later("ntm.figures.kinds:costs"),
            11,
            "With a feedforward controller, nearly perfect up to 12 items, twice as many as in "
            "training.",
            (Beside("published"),),
        ),
        parts.memory_figure(
            12,
            "recall",
            "At every delimiter a compressed form of the item before is written. The query is "
            "found by that form, and the answer is read one location further on.",
            "ntm.paper.drawings.associative_recall:memory",
            models=WATCHED,
        ),
    ),
    analysis=later("ntm.paper.heads.recalling:analyse_recalling"),
    frame=(0, 20),
    curves=parts.published("associative-recall"),
    costs=parts.published("associative-recall-generalisation"),
    axis="items",
    hint="Draw items and choose the query; the answer is the item after it.",
    look_for="every item leaves its mark in memory. When the query comes, a head finds the place "
    "by content, shifts by one, and reads the item that came next.",
    drawing="items",
)
