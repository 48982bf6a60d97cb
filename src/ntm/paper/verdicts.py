"""Verdicts: whether a network reaches the goals of its experiment, and what to do if not.

    for verdict in judge(Run("runs/copy-ntm-ff-1")):
        print(verdict.sentence)

A goal applies to the task settings of its experiment; a run with other settings gets no verdict.
"""

from typing import NamedTuple

from ntm.common.text import bits_text, percent
from ntm.evaluation import Evaluation, evaluate
from ntm.models import Model
from ntm.paper.experiment import Goal
from ntm.paper.registry import experiment_of
from ntm.paper.settings import settings_for
from ntm.runs import Run, Settings
from ntm.tasks import TASKS
from ntm.tasks.cases import TRAINED_RANGE, Case, case_name

SEQUENCES, SEED = 200, 1_000_004
"""Number and seed of the fresh sequences that are measured at the end of training."""


class Verdict(NamedTuple):
    """A goal, and the measured result of a network."""

    goal: Goal
    bits: float
    """Mean cost per sequence, above the optimum if it is known."""
    perfect: float
    """Share of the sequences without a wrong bit."""
    above: str
    """Text to add after "bits" if the optimum is known, such as " above the optimum"."""

    @property
    def reached(self) -> bool:
        """Whether the network reaches the goal, after any number of training sequences."""
        return meets(self.goal, self.bits, self.perfect)

    @property
    def sentence(self) -> str:
        """The verdict as a sentence."""
        found = f"{bits_text(self.bits)} bits per sequence{self.above}"
        if self.goal.perfect is not None:
            found = f"{percent(self.perfect)} without a wrong bit"
        wanted, place = goal_in_words(self.goal, self.above), case_name(self.goal.at)
        return f"Goal {'' if self.reached else 'NOT '}reached, {place}: {found} ({wanted})."


def goals_of(settings: Settings) -> list[Goal]:
    """Return the goals of a run; none if the run changes a setting of the task."""
    if settings.task != TASKS.find(settings.task.name)():
        return []
    goals = experiment_of(settings.task.name).goals
    return [goal for goal in goals if settings.model_name in goal.models]


def judge(run: Run, sequences: int = SEQUENCES) -> list[Verdict]:
    """Measure the best weights of a run on fresh sequences; return a verdict for each goal."""
    goals = goals_of(run.settings)
    if not goals:
        return []
    model, _ = run.load_model()
    return [_verdict(goal, model, run.settings, sequences) for goal in goals]


def verdict_on(found: Evaluation, settings: Settings, at: Case) -> Verdict | None:
    """Return the verdict on a measurement at these sizes; None if there is no goal for them."""
    goals = (goal for goal in goals_of(settings) if dict(goal.at) == dict(at))
    goal = next(goals, None)
    return None if goal is None else _of(goal, found)


def missed_in_validation(run: Run) -> str:
    """Describe how the validation cost of a run misses its goal.

    The text is empty if the goal is reached, or if cost or goal is unknown. The cost is the stored
    one and no problem is solved again, so this is quicker but less certain than `judge`.
    """
    bits = run.load_model()[1].get("validation_bits")
    goals = [goal for goal in goals_of(run.settings) if goal.at == TRAINED_RANGE]
    if bits is None or not goals:
        return ""
    optimum = run.settings.task.optimum
    above = "" if optimum is None else " above the optimum"
    verdict = Verdict(goals[0], bits - (optimum or 0.0), 0.0, above)
    return "" if verdict.reached else f"{verdict.sentence} {advice(run.settings)}"


def meets(goal: Goal, bits: float, perfect: float) -> bool:
    """Return whether a cost and a share of sequences without a wrong bit reach a goal."""
    if goal.perfect is not None:
        return perfect >= goal.perfect
    if goal.published is not None:
        return bits <= goal.published
    assert goal.below is not None
    return bits < goal.below


def goal_in_words(goal: Goal, above: str = "") -> str:
    """Return the bound of a goal in words, without the allowed number of sequences.

    above: words after "bits" if the optimum of the task is known.
    """
    if goal.perfect is not None:
        return f"{percent(goal.perfect)} or more without a wrong bit"
    if goal.published is not None:
        return f"at most the paper's {goal.published:g} bits"
    bits = f"below {goal.below:g} bit{'' if goal.below == 1 else 's'}"
    return f"{bits}{above if goal.at == TRAINED_RANGE else ''}"


def advice(settings: Settings) -> str:
    """Return what to do after a run that missed a goal."""
    usual, chosen = settings_for(*settings.network).training, settings.training
    if chosen.sequences < usual.sequences:
        return f"Train for longer: --sequences {usual.sequences}."
    starts = max(4, 2 * chosen.starts)
    return (
        f"Try another seed (--seed {chosen.seed + 1}) or more starts "
        f"(--set training.starts={starts})."
    )


def _verdict(goal: Goal, model: Model, settings: Settings, sequences: int) -> Verdict:
    return _of(goal, evaluate(model, settings.task.at(**goal.at), sequences, SEED))


def _of(goal: Goal, found: Evaluation) -> Verdict:
    known = found.bits_above_optimal
    above = "" if known is None else " above the optimum"
    return Verdict(goal, found.mean_bits if known is None else known, found.perfect, above)
