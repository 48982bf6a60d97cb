import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch

import ntm.common.fields
import ntm.tasks
from ntm.tasks import TASKS, Batch, Copy, Task, check_batch, cost_in_bits, make_task, register

GUIDE = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text(encoding="utf-8")


@pytest.fixture
def registry() -> Iterator[None]:
    """Put the registry back as it was."""
    before = dict(TASKS)
    yield
    TASKS.clear()
    TASKS.update(before)


def test_make_task_takes_a_name_and_settings() -> None:
    assert make_task("copy") == Copy()
    assert make_task("copy", bits=3, end_marker=True) == Copy(bits=3, end_marker=True)


def test_make_task_refuses_what_it_does_not_know() -> None:
    with pytest.raises(
        ValueError, match=r"no task called 'kopy'; did you mean 'copy'\? Known: copy, repeat"
    ):
        make_task("kopy")
    with pytest.raises(ValueError, match="no setting of the copy task called 'lenght'"):
        make_task("copy", lenght=3)


@pytest.mark.usefixtures("registry")
def test_a_task_can_come_from_outside_the_package() -> None:
    @register
    @dataclass(frozen=True, kw_only=True)
    class Other(Copy):
        name: ClassVar[str] = "other"

    assert make_task("other", bits=3) == Other(bits=3)


@pytest.mark.usefixtures("registry")
def test_a_definition_that_is_run_again_replaces_the_first() -> None:
    def define() -> type[Copy]:
        @register
        class Again(Copy):
            name: ClassVar[str] = "again"

        return Again

    assert define() is not define()
    newest = define()
    assert TASKS["again"] is newest


@pytest.mark.usefixtures("registry")
def test_registering_refuses_taken_names_missing_names_and_other_things() -> None:
    class Impostor(Copy):
        name: ClassVar[str] = "copy"

    class Nameless(Task):
        pass

    with pytest.raises(ValueError, match=r"'copy' belongs to ntm\.tasks\.copy\.Copy"):
        register(Impostor)
    with pytest.raises(ValueError, match="has no name; give it one"):
        register(Nameless)
    with pytest.raises(TypeError, match=r"register a subclass of ntm\.tasks\.Task"):
        register(dict)  # type: ignore[type-var]
    assert TASKS["copy"] is Copy


@pytest.mark.usefixtures("registry")
def test_the_code_of_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    # The last part, experiments, has tests of its own.
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.partition("## An experiment")[0], re.DOTALL)
    assert len(blocks) == 5
    names: dict[str, Any] = {"__name__": "guide"}
    for block in blocks:
        exec(block, names)
    assert capsys.readouterr().out.endswith("\n480.0\n")

    task = make_task("reverse", bits=3, max_length=7)
    batch = task.sample(50, torch.Generator().manual_seed(1))
    check_batch(task, batch)
    for index in range(50):
        heard = int((batch.lengths[index] - 1) // 2)
        said = batch.targets[batch.mask[:, index] > 0, index].tolist()
        assert said == batch.inputs[:heard, index, :3].tolist()[::-1]


@pytest.mark.parametrize("name", TASKS)
def test_the_guide_lists_every_setting_with_its_default(name: str) -> None:
    for setting in fields(TASKS[name]):
        row = f"| `{setting.name}` | `{setting.default}` | {setting.metadata['help']} |"
        assert row in GUIDE


@pytest.mark.parametrize("name", TASKS)
def test_the_guide_gives_sizes_and_chance(name: str) -> None:
    task = make_task(name)
    row = next(line for line in GUIDE.splitlines() if line.startswith(f"| [`{name}`]"))
    _, _, inputs, outputs, scored, chance, axes, _ = (cell.strip() for cell in row.split("|"))
    assert (int(inputs), int(outputs)) == (task.input_size, task.output_size)
    assert float(chance) == task.chance_bits
    assert axes == ", ".join(f"`{axis}`" for axis in task.axes)
    counts = task.sample(2000, torch.Generator().manual_seed(0)).mask.sum(0)
    fewest, most = int(counts.min()), int(counts.max())
    assert scored == (f"{fewest} to {most}" if fewest < most else f"{most}")


def test_the_guide_shows_the_pictures_of_the_classes(drawn: Any) -> None:
    for name in TASKS:
        text = drawn(make_task(name, **_drawn_sizes(name)), x=1.0).text
        assert f"```text\n{text}\n```" in GUIDE


def _drawn_sizes(name: str) -> dict[str, int]:
    return {
        "copy": {"bits": 4},
        "repeat-copy": {"bits": 3},
        "associative-recall": {"bits": 3},
        "ngrams": {},
        "priority-sort": {"bits": 3},
    }[name]


def test_costs_of_the_guide_and_of_samples_agree() -> None:
    task = make_task("copy")
    batch: Batch = task.sample(3000, torch.Generator().manual_seed(0))
    mean = float(cost_in_bits(torch.zeros_like(batch.targets), batch).mean())
    assert mean == pytest.approx(84, rel=0.05)


def test_what_a_task_is_written_with_is_stable() -> None:
    """No page, example or program of a user imports what docs/stability.md calls not stable."""
    root = Path(__file__).parents[2]
    written = [*root.glob("docs/tutorials/*.md"), root / "docs/tasks.md", root / "README.md"]
    written += [*root.glob("examples/*.py"), root / "tests/outside/reverse.py"]
    for file in written:
        imported = re.findall(r"(?:from|import) (ntm\.common[\w.]*)", file.read_text("utf-8"))
        assert imported == [], file
    assert "setting" in ntm.tasks.__all__
    assert ntm.tasks.setting is ntm.common.fields.setting
