"""Figures 4, 5 and 6: how networks copy longer sequences, and how an NTM uses its memory for it."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from ntm.evaluation.recording import Recording
from ntm.figures import panels, style
from ntm.figures.answers import Answer, draw_answers
from ntm.figures.memory_use import draw_memory_use, mark_start


@style.styled
def copy_generalisation(answers: Sequence[Answer], model: str) -> Figure:
    """Figures 4 and 5: targets above outputs, the longest sequence in a row of its own.

    answers: from the shortest to the longest. model: what gave them, for the title. A mark under an
    output is a vector with a wrong bit.
    """
    *shorter, longest = answers
    lines = [shorter, [longest]] if shorter else [[longest]]
    return draw_answers(f"{model}: generalisation on the copy task", lines)


@style.styled
def copy_memory_use(recording: Recording, write_head: int = 0, read_head: int = 0) -> Figure:
    """Figure 6: the vectors written in turn, and read again from the same locations.

    recording: of one sequence of copy.
    """
    figure, parts = draw_memory_use(
        recording.trace,
        "NTM memory use during the copy task",
        write_head=write_head,
        read_head=read_head,
        scored=recording.scored[:, 0],
        channels=recording.task.input_channels,
        rows=panels.locations_in_use(recording, write_head, read_head),
    )
    mark_start(parts, int(recording.answer_start[0]))
    return figure
