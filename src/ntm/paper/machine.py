"""Section 3: the diagrams of the machine itself, which belong to no task."""

from ntm.paper.experiment import Experiment, FigureSpec, later

MACHINE = Experiment(
    task="",
    title="The machine of the paper",
    figures=(
        FigureSpec(
            "architecture",
            later("ntm.paper.drawings.machine:draw_architecture"),
            1,
            "A controller, which alone meets the world, and a memory that it reads and writes "
            "through heads.",
        ),
        FigureSpec(
            "addressing flow",
            later("ntm.paper.drawings.machine:draw_addressing_flow"),
            2,
            "How a head arrives at its weighting: by content, then interpolation with the last "
            "one, shift and sharpening.",
        ),
    ),
)
