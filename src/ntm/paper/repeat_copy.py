"""Section 4.2: repeat copy."""

from ntm.paper import parts
from ntm.paper.experiment import Beside, Experiment, FigureSpec, Goal, Plan, Widths, later

LONG = {"length": 20, "repeats": 10}
TUNED = parts.tuned(100_000, 50_000, 10_000, backward_clip=10.0)

EXPERIMENT = Experiment(
    task="repeat-copy",
    title="Repeat copy",
    widths=Widths(8, 7),
    networks={
        "ntm-ff": Plan(parts.sizes(), 1e-4, 16_712, tuned=TUNED, quick=50_000),
        "ntm-lstm": Plan(parts.sizes(), 1e-4, 66_111, tuned=TUNED, quick=20_000),
        "lstm": parts.baseline(512, 3e-5, 5_312_007, quick=640),
    },
    sequences=500_000,
    cases=({}, LONG, {"length": 10, "repeats": 20}),
    threshold=0.1,
    goals=(Goal(parts.NTMS, below=0.1, within=200_000), Goal(parts.NTMS, LONG, below=1)),
    figures=(
        parts.curves_figure(
            7,
            "repeat copy",
            "NTM learns much faster than LSTM, but both solve the task.",
        ),
        FigureSpec(
            "repeat copy generalisation",
            later("ntm.figures.kinds:answers_beside", models=parts.NTMS, wanted=("lstm",)),
            8,
            "The paper's NTM repeats longer sequences almost perfectly. With more repeats it goes "
            "on fairly accurately but cannot tell where the end is. Its LSTM fails at both.",
            (Beside("beyond", parts.NTMS), Beside("beyond", ("lstm",))),
        ),
        parts.memory_figure(
            9,
            "repeat copy",
            "The sequence is written once and read again and again; at the end of each pass the "
            "read head jumps back to the start.",
            at={"length": 7, "repeats": 6},
        ),
    ),
    analysis=later("ntm.paper.heads.copying:analyse_copying"),
    frame=(0, 200),
    curves=parts.published("repeat-copy"),
    hint="Click or drag over cells. The network has to say this several times.",
    look_for="the sequence is written once. The read head then walks over it once per repeat, and "
    "jumps back to its start in between.",
    drawing="repeated vectors",
)
