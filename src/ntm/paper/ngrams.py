"""Section 4.4: dynamic n-grams."""

from ntm.paper import parts
from ntm.paper.experiment import Beside, Experiment, FigureSpec, Goal, Plan, Widths, later

RANDOM = {"start_memory": "random"}

EXPERIMENT = Experiment(
    task="ngrams",
    title="Dynamic n-grams",
    widths=Widths(1, 1, (-1, 0, 1, 2)),
    networks={
        "ntm-ff": Plan(
            parts.sizes(),
            3e-5,
            14_656,
            start=parts.SHARP_AND_TOGETHER,
            tuned=parts.tuned(
                400_000,
                300_000,
                20_000,
                optimiser=parts.FASTER,
                training=parts.AVERAGED,
                model=RANDOM,
            ),
            quick=20_000,
        ),
        "ntm-lstm": Plan(
            parts.sizes(),
            3e-5,
            61_749,
            tuned=parts.tuned(100_000, 60_000, 10_000, optimiser=parts.FASTER, model=RANDOM),
            quick=12_000,
        ),
        "lstm": parts.baseline(128, 1e-4, 331_905, quick=2_000),
    },
    # So many, because what sequences cost varies by 36 bits from one to the next.
    threshold=1.0,
    window=20_000,
    goals=(Goal(parts.NTMS, below=1.0),),
    figures=(
        parts.curves_figure(
            13,
            "ngram",
            "NTM has a small but significant advantage over LSTM, and never quite reaches the "
            "optimum.",
        ),
        FigureSpec(
            "ngram inference",
            later("ntm.paper.drawings.ngrams:inference", models=parts.NTMS, wanted=("lstm",)),
            14,
            "The predictions of NTM are close to the optimal ones, and closer than those of LSTM.",
            (Beside("curves"),),
        ),
        parts.memory_figure(
            15,
            "ngram",
            "The same context always meets the same location, where what followed it is counted.",
            "ntm.paper.drawings.ngrams:memory",
        ),
    ),
    analysis=later("ntm.paper.heads.counting:analyse_counting"),
    frame=(130, 160),
    curves=parts.published("ngrams"),
    hint="Bits, from left to right. The network has to predict each from those before it.",
    look_for="the next bit depends on the last few, so some locations are visited again whenever "
    "the same bits have come before: the network counts there.",
    drawing="bits",
)
