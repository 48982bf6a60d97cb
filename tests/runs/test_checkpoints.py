import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ntm import NTM
from ntm.models.lstm import LSTMBaseline
from ntm.runs import RunError, checkpoints
from ntm.runs.checkpoints import CheckpointError, load_newest, save
from ntm.training import GravesRMSprop


def save_three(folder: Path) -> None:
    for number in (1, 2, 3):
        save(folder, {"a": torch.full((2, 3), float(number))}, {"sequences": number, "x": 0.1})


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_newest_and_the_one_before_are_kept(tmp_path: Path) -> None:
    save_three(tmp_path)
    assert names(tmp_path) == [f"0000000{n}.{e}" for n in "23" for e in ("json", "safetensors")]
    checkpoint, problems = load_newest(tmp_path)
    assert checkpoint is not None
    assert checkpoint.values == {"sequences": 3, "x": 0.1}
    assert checkpoint.tensors["a"].tolist() == [[3.0] * 3] * 2
    assert problems == []


def test_no_checkpoint_is_no_error(tmp_path: Path) -> None:
    assert load_newest(tmp_path) == (None, [])
    assert load_newest(tmp_path / "nowhere") == (None, [])


def truncate_tensors(folder: Path) -> None:
    file = folder / "00000003.safetensors"
    file.write_bytes(file.read_bytes()[:-5])


def empty_tensors(folder: Path) -> None:
    (folder / "00000003.safetensors").write_bytes(b"")


def lose_tensors(folder: Path) -> None:
    (folder / "00000003.safetensors").unlink()


def flip_a_bit_of_the_tensors(folder: Path) -> None:
    file = folder / "00000003.safetensors"
    content = bytearray(file.read_bytes())
    content[-2] ^= 4
    file.write_bytes(content)


def truncate_record(folder: Path) -> None:
    file = folder / "00000003.json"
    file.write_bytes(file.read_bytes()[:20])


def change_a_value(folder: Path) -> None:
    file = folder / "00000003.json"
    file.write_text(file.read_text().replace('"sequences": 3', '"sequences": 4'))


def change_the_format(folder: Path) -> None:
    file = folder / "00000003.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"format": 2}))


def put_foreign_json(folder: Path) -> None:
    (folder / "00000003.json").write_text('["somebody", "else"]')


def put_binary(folder: Path) -> None:
    (folder / "00000003.json").write_bytes(b"\x80\x81\xff")


DAMAGES = {
    truncate_tensors: "checksum",
    empty_tensors: "checksum",
    lose_tensors: "is missing",
    flip_a_bit_of_the_tensors: "checksum",
    truncate_record: "is damaged",
    change_a_value: "checksum",
    change_the_format: "checksum",
    put_foreign_json: "is not a checkpoint",
    put_binary: "is damaged",
}


@pytest.mark.parametrize(
    ("damage", "reason"), DAMAGES.items(), ids=lambda d: getattr(d, "__name__", "")
)
def test_a_damaged_checkpoint_gives_way_to_the_one_before(
    tmp_path: Path, damage: Callable[[Path], None], reason: str
) -> None:
    save_three(tmp_path)
    damage(tmp_path)
    checkpoint, problems = load_newest(tmp_path)
    assert checkpoint is not None
    assert checkpoint.values["sequences"] == 2
    assert len(problems) == 1
    assert "00000003" in problems[0]
    assert reason in problems[0]
    save(tmp_path, {}, {"sequences": 9})
    assert [
        json.loads((tmp_path / n).read_text())["values"]["sequences"]
        for n in names(tmp_path)
        if n.endswith(".json")
    ] == [2, 9]


def test_a_checkpoint_of_a_later_version_is_refused_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_three(tmp_path)
    with monkeypatch.context() as later:
        later.setattr(checkpoints, "FORMAT", 2)
        save(tmp_path, {}, {"sequences": 4})
    before = names(tmp_path)
    with pytest.raises(RunError, match=r"has the format 2; this version reads 1\. Resume"):
        load_newest(tmp_path)
    assert names(tmp_path) == before


def test_damage_everywhere_is_explained(tmp_path: Path) -> None:
    save_three(tmp_path)
    for file in tmp_path.glob("*.json"):
        file.write_text("{}")
    with pytest.raises(CheckpointError, match=r"00000003.*00000002.*remove .* to start") as error:
        load_newest(tmp_path)
    assert error.value.__cause__ is None


@given(position=st.integers(0, 10**6), bit=st.integers(0, 7))
def test_no_flipped_bit_goes_unnoticed(
    tmp_path_factory: pytest.TempPathFactory, position: int, bit: int
) -> None:
    folder = tmp_path_factory.mktemp("flip")
    save_three(folder)
    file = folder / ("00000003.json", "00000003.safetensors")[position % 2]
    content = bytearray(file.read_bytes())
    content[position % len(content)] ^= 1 << bit
    file.write_bytes(content)
    checkpoint, problems = load_newest(folder)
    shutil.rmtree(folder)
    assert checkpoint is not None
    # White space of the record may change without changing what it says.
    assert checkpoint.values == {"sequences": 2 if problems else 3, "x": 0.1}
    assert checkpoint.tensors["a"][0, 0] == checkpoint.values["sequences"]


def test_what_a_killed_writer_left_is_cleared_away(tmp_path: Path) -> None:
    save_three(tmp_path)
    (tmp_path / ".00000004.safetensors.77.tmp").write_bytes(b"half")
    (tmp_path / "00000004.safetensors").write_bytes(b"whole, but without its record")
    checkpoint, problems = load_newest(tmp_path)
    assert checkpoint is not None
    assert checkpoint.values["sequences"] == 3
    assert problems == []
    assert not list(tmp_path.glob(".*"))
    save(tmp_path, {"a": torch.ones(1)}, {"sequences": 4})
    checkpoint, _ = load_newest(tmp_path)
    assert checkpoint is not None
    assert checkpoint.values["sequences"] == 4


def test_model_and_optimiser_come_back_bit_for_bit(tmp_path: Path) -> None:
    def fresh(seed: int) -> tuple[LSTMBaseline, GravesRMSprop]:
        torch.manual_seed(seed)
        model = LSTMBaseline(3, 2, 5)
        optimiser = GravesRMSprop(model.parameters(), lr=0.01)
        optimiser.ensure_state()
        return model, optimiser

    def step(model: LSTMBaseline, optimiser: GravesRMSprop) -> None:
        optimiser.zero_grad()
        model(torch.linspace(-1, 1, 12).view(4, 1, 3))[0].square().sum().backward()
        optimiser.step()

    first = fresh(1)
    step(*first)
    save(tmp_path, checkpoints.state_tensors(*first), {})
    second = fresh(2)
    loaded, _ = load_newest(tmp_path)
    assert loaded is not None
    checkpoints.restore(loaded.tensors, *second)
    step(*first)
    step(*second)
    left, right = (checkpoints.state_tensors(*each) for each in (first, second))
    assert left.keys() == right.keys()
    assert len(left) == 4 * len(list(first[0].parameters()))
    assert all(torch.equal(left[name], right[name]) for name in left)


def test_a_checkpoint_of_version_1_0_is_restored() -> None:
    """Its feedforward networks had two parameters without elements."""
    sizes = {"controller_size": 3, "memory_locations": 5, "memory_width": 2}
    nets = [NTM(3, 2, **sizes) for _ in range(4)]
    optimisers = [GravesRMSprop(net.parameters()) for net in nets[:2]]
    for optimiser in optimisers:
        optimiser.ensure_state()
    saved = checkpoints.state_tensors(nets[0], optimisers[0], nets[2])
    saved["optimiser/delta/start.reads"].fill_(3.0)
    owners = ("model", "average", "optimiser/mean_square", "optimiser/mean", "optimiser/delta")
    old = {f"{of}/start.{name}": torch.empty(0, 3) for of in owners for name in ("hidden", "cell")}
    checkpoints.restore(saved | old, nets[1], optimisers[1], nets[3])
    again = checkpoints.state_tensors(nets[1], optimisers[1], nets[3])
    assert again.keys() == saved.keys()
    assert all(torch.equal(again[name], tensor) for name, tensor in saved.items())
    stranger = {"optimiser/delta/start.other": torch.ones(1)}
    with pytest.raises(KeyError, match=r"start\.other"):
        checkpoints.restore(saved | stranger, nets[1], optimisers[1], nets[3])
