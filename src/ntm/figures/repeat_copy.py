"""Figures 8 and 9: repeat copy, of longer sequences and more often, and the memory behind it."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from ntm.evaluation.recording import Recording
from ntm.figures import panels, style
from ntm.figures.answers import Answer, draw_answers
from ntm.figures.memory_use import draw_memory_use, mark_start


@style.styled
def repeat_copy_generalisation(answers: Sequence[Answer]) -> Figure:
    """Figure 8: targets above outputs, for each model and each way to go beyond training.

    answers: their titles say whose they are and what was asked. The lowest row of each picture is
    the end marker. A mark under an output is a step with a wrong bit.
    """
    return draw_answers("Generalisation on the repeat copy task", [[answer] for answer in answers])


@style.styled
def repeat_copy_memory_use(recording: Recording, write_head: int = 0, read_head: int = 0) -> Figure:
    """Figure 9: the vectors written once, and read over and over.

    recording: of one sequence of repeat copy.
    """
    figure, parts = draw_memory_use(
        recording.trace,
        "NTM memory use during the repeat copy task",
        write_head=write_head,
        read_head=read_head,
        scored=recording.scored[:, 0],
        channels=recording.task.input_channels,
        rows=panels.locations_in_use(recording, write_head, read_head),
    )
    mark_start(parts, int(recording.answer_start[0]))
    return figure
