"""A run folder that travels as bytes can be resumed wherever it arrives, and however much of it."""

from pathlib import Path

import pytest
from tests.same_run import assert_same_run
from tests.scale.runs import small_jobs

from ntm.scale import Job
from ntm.scale.ray_cluster import newest_record, pack, unpack
from ntm.training import train


def job_in(folder: Path) -> Job:
    """A run that validates at every report, so that where it was stopped leaves no trace."""
    (job,) = small_jobs(folder, training__validate_every=100)
    return job


@pytest.fixture
def parcels(tmp_path: Path) -> tuple[dict[str, bytes], dict[str, bytes], Path]:
    """A run packed at 300 of its 500 sequences, then at 400, and the folder of the whole run."""
    job = job_in(tmp_path / "whole")
    packed = []
    for sequences in ("300", "400", "500"):
        train(job.settings.with_text({"training.sequences": sequences}), job.folder, resume=True)
        packed.append(pack(job.folder))
    return packed[0], packed[1], job.folder


def test_a_parcel_has_all_but_locks_and_leftovers(tmp_path: Path) -> None:
    (job,) = small_jobs(tmp_path)
    train(job.settings, job.folder)
    (job.folder / ".model.safetensors.77.tmp").write_bytes(b"half")
    parcel = pack(job.folder)
    assert {"config.json", "metrics.jsonl", "model.safetensors", "best.safetensors"} < set(parcel)
    assert not [name for name in parcel if Path(name).name.startswith(".")]


def test_a_run_goes_on_from_its_parcel(
    parcels: tuple[dict[str, bytes], dict[str, bytes], Path], tmp_path: Path
) -> None:
    early, late, whole = parcels
    unpack(early, tmp_path / "there")
    unpack(late, tmp_path / "there")
    assert pack(tmp_path / "there") == late
    train(job_in(tmp_path).settings, tmp_path / "there", resume=True)
    assert_same_run(tmp_path / "there", whole)


def test_a_folder_can_be_resumed_wherever_unpacking_stopped(
    parcels: tuple[dict[str, bytes], dict[str, bytes], Path], tmp_path: Path
) -> None:
    early, late, whole = parcels
    settings = job_in(tmp_path).settings
    written = sorted(late, key=lambda name: name.endswith(".json") and "/" in name)
    for count in range(0, len(late) + 1, 3):
        folder = tmp_path / str(count)
        unpack(early, folder)
        unpack(early | {name: late[name] for name in written[:count]}, folder)
        train(settings, folder, resume=True)
        assert_same_run(folder, whole)


def test_the_newest_record_names_the_last_checkpoint(tmp_path: Path) -> None:
    assert newest_record(tmp_path) is None
    (job,) = small_jobs(tmp_path)
    train(job.settings, job.folder)
    newest = newest_record(job.folder)
    assert newest in {path.name for path in (job.folder / "checkpoint").glob("*.json")}
    for older in (job.folder / "checkpoint").glob("*.json"):
        assert int(older.stem) <= int(str(newest).removesuffix(".json"))
