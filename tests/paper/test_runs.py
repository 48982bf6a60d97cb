"""Which networks are trained, for how long, and under which names."""

import pytest

from ntm.paper import full_runs, paper_tables, quick_runs, select, settings_for
from ntm.runs import run_name


def test_all_of_the_papers_networks_in_the_order_of_its_sections() -> None:
    networks = select()
    assert len(networks) == 15
    assert set(networks) == {(row.task, row.model) for row in paper_tables()}
    assert [task for task, _ in networks[::3]] == [
        "copy", "repeat-copy", "associative-recall", "ngrams", "priority-sort",
    ]  # fmt: skip


def test_a_selection_keeps_the_order_whatever_was_typed() -> None:
    chosen = select(tasks=["ngrams", "copy"], models=["lstm", "ntm-ff"])
    assert chosen == [
        ("copy", "ntm-ff"), ("copy", "lstm"), ("ngrams", "ntm-ff"), ("ngrams", "lstm"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("names", "said"), [({"tasks": ["copi"]}, "copy"), ({"models": ["ntm"]}, "ntm-ff")]
)
def test_an_unknown_name_is_refused_with_those_there_are(
    names: dict[str, list[str]], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        select(**names)


def test_full_runs_are_those_of_ntm_train_but_for_the_seed() -> None:
    runs = full_runs(select(["copy"], ["ntm-lstm"]), seeds=3, first_seed=200)
    assert [settings.training.seed for settings in runs] == [200, 201, 202]
    for settings in runs:
        assert settings.with_text({"training.seed": "1"}) == settings_for("copy", "ntm-lstm")


def test_quick_runs_are_the_papers_networks_trained_no_longer() -> None:
    for full, quick in zip(full_runs(select()), quick_runs(select()), strict=True):
        assert (quick.task, quick.model, quick.optimiser) == (full.task, full.model, full.optimiser)
        assert quick.training.sequences <= full.training.sequences
        assert quick.training.sequences % quick.training.batch_size == 0
        assert quick.training.sequences // quick.training.report_every >= 10
        assert 0 < quick.training.validate_every < quick.training.sequences


def test_no_seeds_are_refused() -> None:
    with pytest.raises(ValueError, match="seeds must be an integer of at least 1, got 0"):
        full_runs(select(), seeds=0)


def test_every_run_has_a_name_of_its_own() -> None:
    names = [run_name(settings) for settings in quick_runs(select(), seeds=2)]
    assert len(set(names)) == 30
    assert names[0] == "copy-ntm-ff-0"
