"""Files of examples: formats, layouts, the split, damaged lines, and what a batch holds."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ntm.tasks import DataError, Examples, check_batch, examples_from, lines
from ntm.tasks.alphabets import units_of
from ntm.tasks.examples import HELD_OUT
from ntm.tasks.lines import Lines

LETTERS = st.text("abcXYZ äß☃", max_size=6)
WORDS = st.lists(st.sampled_from(["one", "two", 3, 4.5, True, None]), max_size=4)
VECTORS = st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), max_size=4)


def written(folder: Path, pairs: list[tuple[Any, Any]], name: str = "some.jsonl") -> Path:
    lines = [json.dumps({"input": asked, "target": answer}) for asked, answer in pairs]
    file = folder / name
    file.write_text("\n".join(lines) + "\n")
    return file


def as_read(value: Any) -> list[Any]:
    return units_of(value)


def answers(task: Examples, numbers: list[int]) -> list[list[Any]]:
    """Return the targets of a batch, decoded as a network's answers."""
    batch = task.take(numbers)
    check_batch(task, batch)
    scored = [batch.mask[:, i] > 0 for i in range(batch.batch_size)]
    return [task.said(batch.targets[s, i] * 2 - 1)[0] for i, s in enumerate(scored)]


@given(data=st.data(), kind=st.sampled_from([LETTERS, WORDS, VECTORS]))
def test_targets_come_back_as_they_are_in_the_file(
    data: st.DataObject, kind: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    pairs = data.draw(st.lists(st.tuples(LETTERS, kind), min_size=2, max_size=9))
    pairs.append(("a", [[1, 0, 1]] if kind is VECTORS else "one" if kind is LETTERS else ["one"]))
    file = written(tmp_path_factory.mktemp("data"), pairs)
    task = examples_from(file).with_file(file)
    expected = [[_plain(unit) for unit in as_read(answer)] for _, answer in pairs]
    assert answers(task, list(range(len(pairs)))) == expected


def _plain(unit: Any) -> Any:
    """Return a single bit beside symbols as its symbol."""
    return str(unit[0]) if isinstance(unit, tuple) and len(unit) == 1 else unit


def test_a_transduction_is_input_flag_answer_end(tmp_path: Path) -> None:
    task = examples_from(written(tmp_path, [("ab", "ba"), ("b", "b")]))
    assert task.input_channels == ("a", "b", "→")
    assert task.output_channels == ("a", "b", "↵")
    picture = task.with_file(task.file).take([0])
    assert task.render(picture, 0).splitlines()[1:] == [
        "input   symbol  ab→···",
        "target  symbol     ba↵",
    ]
    assert task.longest_answer == 2
    assert task.mean_scored_steps == 2.5


def test_tagging_and_classification(tmp_path: Path) -> None:
    file = tmp_path / "tags.tsv"
    file.write_text("axe\tVCV\nox\tVC\n")
    tagging = examples_from(file, "tagging").with_file(file)
    batch = tagging.take([0, 1])
    check_batch(tagging, batch)
    assert batch.lengths.tolist() == [3, 2]
    assert tagging.output_channels == ("C", "V")
    assert torch.equal(batch.mask, torch.tensor([[1.0, 1], [1, 1], [1, 0]]))
    file = tmp_path / "classes.csv"
    file.write_text('input,target\n"a,b",first class\nb,second\n')
    classes = examples_from(file, "classification").with_file(file)
    batch = classes.take([0, 1])
    check_batch(classes, batch)
    assert classes.output_channels == ("first class", "second")
    assert batch.lengths.tolist() == [4, 2]
    assert batch.mask.sum(0).tolist() == [1, 1]


def test_bits_are_bits_and_beside_symbols_they_are_symbols(tmp_path: Path) -> None:
    bits = examples_from(written(tmp_path, [([0, 1], [[1, 0]]), ([1], [[1, 1]])]))
    assert (bits.input_kind, bits.output_kind) == ("bits", "bits")
    assert bits.output_channels == ("bit 1", "bit 2", "↵")
    symbols = examples_from(written(tmp_path, [([0, 1], ["x"]), ([2], ["y"])], "digits.jsonl"))
    assert symbols.input_channels == ("0", "1", "2", "→")


def test_equal_lines_are_in_the_same_part(tmp_path: Path) -> None:
    pairs = [(f"{number % 50}", "x") for number in range(500)]
    task = examples_from(written(tmp_path, pairs))
    parts = [task, task.for_validation]
    lines = [set(map(tuple, _inputs(part))) for part in parts]
    assert not lines[0] & lines[1]
    assert sum(part.problems for part in parts) == 500
    assert 1 <= len(lines[1]) <= 15


def _inputs(task: Examples) -> list[list[int]]:
    batch = task.take(range(task.problems))
    return [batch.inputs[:, i].argmax(-1).tolist() for i in range(batch.batch_size)]


def test_one_line_is_held_out_of_few(tmp_path: Path) -> None:
    task = examples_from(written(tmp_path, [("a", "b"), ("b", "a")]))
    assert (task.problems, task.for_validation.problems) == (1, 1)


def test_a_file_for_validation_holds_nothing_out(tmp_path: Path) -> None:
    valid = written(tmp_path, [("c", "d")], "valid.jsonl")
    task = examples_from(written(tmp_path, [("a", "b")] * 30), valid=valid)
    assert (task.problems, task.for_validation.problems) == (30, 1)
    assert task.input_symbols == ("a", "c")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"input": "a"}', '"target" is missing'),
        ("[1, 2]", "a line must be an object"),
        ("{", "this is not JSON"),
        ('{"input": ' + "[" * 100_000, "its lists are nested too deeply"),
        ('{"input": 3, "target": "a"}', "3 is neither a string nor a list"),
        ('{"input": {}, "target": "a"}', "{} is neither a string nor a list"),
        ('{"input": [{}], "target": "a"}', "{} is neither a symbol nor a vector"),
        ('{"input": [[0, 1]], "target": "a"}', "a vector of 2 bits cannot follow symbols"),
        ('{"input": "a", "target": "ab"}', "tagging needs one target for every step"),
    ],
)
def test_a_damaged_line_is_named(line: str, message: str, tmp_path: Path) -> None:
    file = written(tmp_path, [("a", "b"), ("b", "a")])
    file.write_text(file.read_text() + "\n" + line + "\n")
    with pytest.raises(DataError) as caught:
        examples_from(file, "tagging")
    assert str(caught.value).startswith(f"{file}, line 4: {message}")


@pytest.mark.parametrize(
    ("row", "message"),
    [("a,b,c", "two columns, not 3"), ('"a,b', "the columns cannot be read"), ("a", "not 1")],
)
def test_a_damaged_row_is_named(row: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text(f"a,b\n{row}\n")
    with pytest.raises(DataError, match=rf"rows.csv, line 2: .*{message}"):
        examples_from(file)


def test_text_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(b"a,b\n\xff,b\n")
    with pytest.raises(DataError, match=r"rows.csv, line 2: .*utf-8"):
        examples_from(file)


def test_a_byte_order_mark_belongs_to_no_line(tmp_path: Path) -> None:
    for name, content in (("a.jsonl", '{"input": "a", "target": "b"}\n'), ("a.csv", "a,b\n")):
        file = tmp_path / name
        file.write_bytes(b"\xef\xbb\xbf" + (content * 3).encode())
        task = examples_from(file).with_file(file)
        assert task.input_symbols == ("a",)
        assert task.problems == 3
        assert answers(task, [0, 1, 2]) == [["b"]] * 3
        assert task.pair(0) == ("a", "b")


def test_one_example_cannot_be_held_out_of_itself(tmp_path: Path) -> None:
    for number in range(40):  # for some of them, the hash alone would hold out the line
        file = written(tmp_path, [(str(number), "b")])
        with pytest.raises(DataError, match="has one example; add others, or name a file with"):
            examples_from(file)
        assert examples_from(file, valid=file).problems == 1


def test_the_pass_that_checks_every_line_also_finds_the_offsets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, [(f"{n}", f"{n}") for n in range(100)])
    task, alone = examples_from(file), Lines(file, HELD_OUT)
    monkeypatch.delattr(lines, "Lines")  # a second pass would fail
    assert task.problems == len(alone.kept)
    assert task.for_validation.problems == len(alone.held_out)


def test_empty_files_and_other_endings_are_refused(tmp_path: Path) -> None:
    (tmp_path / "no.jsonl").write_text("\n")
    (tmp_path / "no.txt").write_text("a")
    for name, message in (("no.jsonl", "no examples"), ("no.txt", "must end in .jsonl, .csv")):
        with pytest.raises(DataError, match=message):
            examples_from(tmp_path / name)
    with pytest.raises(DataError, match="There is no file"):
        examples_from(tmp_path / "missing.csv")


def test_unknown_symbols_of_another_file_are_named(tmp_path: Path) -> None:
    task = examples_from(written(tmp_path, [("a", "b"), ("b", "a")]))
    other = written(tmp_path, [("a", "b"), ("aßb", "b")], "other.jsonl")
    with pytest.raises(DataError, match=r"other.jsonl, line 2: .* the symbol 'ß'; it knows a b\."):
        task.with_file(other).take([0, 1])


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, [("a", "b"), ("b", "a")])
    task = examples_from(file)
    task.take([0])
    written(tmp_path, [("a", "b"), ("b", "ab")])
    with pytest.raises(DataError, match="has changed since the run was started"):
        task.take([0])


def test_lines_are_found_by_offset(tmp_path: Path) -> None:
    pairs = [("x" * (number % 7), str(number)) for number in range(300)]
    lines = Lines(written(tmp_path, pairs))
    for number in (0, 17, 299):
        offset = lines.kept[number]
        assert json.loads(lines.read([offset])[0])["target"] == str(number)
        assert lines.number_at(offset) == number + 1


def test_sampling_depends_on_the_generator_alone(tmp_path: Path) -> None:
    task = examples_from(written(tmp_path, [(f"{n}", f"{n}") for n in range(100)]))
    first, second, other = (task.sample(9, torch.Generator().manual_seed(s)) for s in (1, 1, 2))
    assert torch.equal(first.inputs, second.inputs)
    assert first.inputs.shape != other.inputs.shape or not torch.equal(first.inputs, other.inputs)
