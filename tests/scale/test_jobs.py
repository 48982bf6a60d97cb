"""What the folders of jobs tell before anything runs."""

from pathlib import Path

import pytest
from tests.scale.runs import small_jobs

from ntm.runs import FolderError, Run
from ntm.runs.facts import validated
from ntm.scale import Job, execute
from ntm.scale.jobs import Board
from ntm.training import train


def trained(job: Job, **changed: str) -> None:
    texts = {name.replace("__", "."): text for name, text in changed.items()}
    train(job.settings.with_text(texts), job.folder, resume=True)


def contents(folder: Path) -> dict[Path, tuple[bytes, int]]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_a_finished_run_is_taken_as_it_is(tmp_path: Path) -> None:
    (job,) = small_jobs(tmp_path)
    result = train(job.settings, job.folder)
    before = contents(tmp_path)
    (outcome,) = execute([job])
    assert contents(tmp_path) == before
    assert (outcome.state, outcome.reason, outcome.sequences) == ("finished", None, 500)
    assert (outcome.bits, outcome.best_bits) == (result.bits, result.best_bits)
    assert 0 < outcome.seconds <= result.seconds


def test_a_finished_run_needs_no_checkpoint_to_count(tmp_path: Path) -> None:
    (job,) = small_jobs(tmp_path, training__batch_size=7)  # 72 batches are 504 sequences
    train(job.settings, job.folder)
    for file in (job.folder / "checkpoint").iterdir():
        file.unlink()
    (outcome,) = execute([job])
    assert (outcome.state, outcome.sequences) == ("finished", 504)


def test_a_run_whose_trials_ended_early_is_finished(tmp_path: Path) -> None:
    trials = {"starts": "4", "trial_sequences": "100", "enough_bits": "1e9"}
    (job,) = small_jobs(tmp_path)
    job = Job(job.settings.with_text({f"training.{k}": v for k, v in trials.items()}), job.folder)
    assert job.sequences == 800
    assert train(job.settings, job.folder).sequences == 500
    before = contents(tmp_path)
    (outcome,) = execute([job])
    assert contents(tmp_path) == before
    assert (outcome.state, outcome.sequences) == ("finished", 500)


def test_the_best_cost_is_that_of_the_best_weights(tmp_path: Path) -> None:
    trials = {"starts": "4", "trial_sequences": "250", "report_every": "10", "validate_every": "10"}
    (job,) = small_jobs(tmp_path)
    job = Job(job.settings.with_text({f"training.{k}": v for k, v in trials.items()}), job.folder)
    (first,), (again,) = execute([job]), execute([job])
    assert again.best_bits == first.best_bits == validated(Run(job.folder).facts("best"))


def test_a_run_that_was_solved_is_finished(tmp_path: Path) -> None:
    easy = {"stop_when_solved": "true", "solved_bits": "1e9", "solved_window": "200"}
    (job,) = small_jobs(tmp_path)
    job = Job(job.settings.with_text({f"training.{k}": v for k, v in easy.items()}), job.folder)
    assert train(job.settings, job.folder).ending == "solved"
    (outcome,) = execute([job])
    assert (outcome.state, outcome.sequences) == ("finished", 200)


def test_a_run_that_was_begun_waits_where_it_stands(tmp_path: Path) -> None:
    (job,) = small_jobs(tmp_path)
    trained(job, training__sequences="300")
    board = Board([job])
    assert board.open == [0]
    (standing,) = board.standings
    assert (standing.state, standing.sequences) == ("waiting", 300)
    assert standing.bits is not None


def test_a_folder_with_another_run_is_refused(tmp_path: Path) -> None:
    (job,) = small_jobs(tmp_path)
    trained(job)
    with pytest.raises(FolderError, match=r"optimiser\.momentum is 0\.9 in .* and 0\.5 now"):
        execute([Job(job.settings.with_text({"optimiser.momentum": "0.5"}), job.folder)])
    with pytest.raises(FolderError, match="trained on 500 sequences, more than the 400 asked for"):
        execute([Job(job.settings.with_text({"training.sequences": "400"}), job.folder)])


def test_two_jobs_cannot_share_a_folder(tmp_path: Path) -> None:
    (job,) = small_jobs(tmp_path)
    same = Job(job.settings, tmp_path / "elsewhere" / ".." / job.name)
    with pytest.raises(ValueError, match="Two jobs have the folder"):
        execute([job, same])
    assert list(tmp_path.iterdir()) == []


def test_no_jobs_have_no_outcomes() -> None:
    assert execute([]) == []


def test_at_least_one_worker_is_needed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="workers is 0"):
        execute(small_jobs(tmp_path), workers=0)
