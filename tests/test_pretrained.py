import json
from pathlib import Path

import pytest
import torch
from benchmarks.drawings import PATTERNS, share

from ntm import NTM, pretrained
from ntm.commands.main import main
from ntm.evaluation import evaluate
from ntm.runs import Run, RunError
from ntm.training import paper_settings, train


@pytest.mark.parametrize("name", pretrained.names())
def test_a_pretrained_network_costs_what_is_published(name: str) -> None:
    net, facts = NTM.from_pretrained(name), pretrained.facts(name)
    measured = evaluate(net, facts.settings.task, pretrained.SEQUENCES, pretrained.SEED)
    # Other vector instructions round otherwise, and a hard sequence can amplify that.
    assert measured.mean_bits == pytest.approx(facts.mean_bits, rel=0.02, abs=1e-3)


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("name", ["copy-ff", "copy-lstm"])
def test_a_copy_of_any_drawing_has_no_wrong_bit(name: str, half: bool) -> None:
    net, task = NTM.from_pretrained(name), pretrained.facts(name).settings.task
    if half:  # the precision of the site
        weights = {key: tensor.half().float() for key, tensor in net.state_dict().items()}
        net.load_state_dict(weights)
    for kinds in ("any", "blank", "blank and full"):
        assert share(net, task, PATTERNS[kinds], 1000) == "100.00%", kinds


def test_every_ntm_of_the_paper_is_there() -> None:
    tasks = ("copy", "repeat-copy", "associative-recall", "ngrams", "priority-sort")
    wanted = {f"{task}-{controller}" for task in tasks for controller in ("ff", "lstm")}
    assert set(pretrained.names()) == wanted


def test_a_name_is_that_of_its_task_and_controller() -> None:
    for name in pretrained.names():
        assert pretrained.name_of(pretrained.settings(name)) == name


def test_options_of_the_layer_are_passed_on() -> None:
    net = NTM.from_pretrained("copy-ff", batch_first=True, engine="reference")
    assert net.batch_first
    assert net.engine == "reference"
    x = torch.zeros(3, 5, net.config.input_size)
    assert net(x)[0].shape == (3, 5, net.config.output_size)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'copy-fff'; did you mean 'copy-ff'\? Known: "):
        NTM.from_pretrained("copy-fff")
    with pytest.raises(ValueError, match="no packaged network called"):
        pretrained.facts("../../copy-ff")


def small_run(folder: Path, model: str, seed: int = 1) -> Run:
    changes = {
        "training.seed": str(seed),
        "training.sequences": "20",
        "training.report_every": "10",
        "task.max_length": "3",
    }
    smaller = {"lstm": {"model.hidden_size": "5"}}.get(model, {"model.memory_locations": "7"})
    train(paper_settings("copy", model).with_text({**changes, **smaller}), folder)
    return Run(folder)


def test_the_best_weights_of_a_run_are_published(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", "ntm-ff")
    file = pretrained.publish(run, tmp_path)
    assert file == tmp_path / "copy-ff.safetensors"
    facts = pretrained.read_facts(file)
    best, known = run.load_model("best")
    assert facts.settings == run.settings
    assert facts.trained_sequences == known["sequences"]
    assert facts.validation_bits == known["validation_bits"]
    task = run.settings.task
    assert facts.mean_bits == evaluate(best, task, pretrained.SEQUENCES, pretrained.SEED).mean_bits


def test_the_run_with_the_lowest_validation_cost_is_chosen(tmp_path: Path) -> None:
    runs = [small_run(tmp_path / f"{seed}", "ntm-ff", seed) for seed in (1, 2, 3)]
    runs.append(small_run(tmp_path / "lstm", "lstm"))
    (file,) = pretrained.publish_best(runs, tmp_path)
    costs = [run.load_model("best")[1]["validation_bits"] for run in runs[:3]]
    assert len(set(costs)) == 3
    assert pretrained.read_facts(file).validation_bits == min(costs)


def test_a_baseline_is_not_published(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="only an NTM can be published"):
        pretrained.publish(small_run(tmp_path / "run", "lstm"), tmp_path)


def test_a_card_tells_what_a_network_can_do_and_how_it_was_made(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", "ntm-ff", seed=7)
    net, _ = run.load_model("best")
    task = run.settings.task
    facts = pretrained.read_facts(pretrained.publish(run, tmp_path))
    within, longer, longest = facts.abilities
    assert (within.at, within.bits) == ({}, pytest.approx(facts.mean_bits, rel=1e-4))
    assert (longer.at, longer.memory_locations) == ({"length": 120}, 7)
    measured = evaluate(net, task.at(length=120), longer.sequences, pretrained.SEED)
    assert (longer.bits, longer.perfect) == pytest.approx((measured.mean_bits, measured.perfect))
    assert (longest.at, longest.memory_locations) == ({"length": 1000}, 1024)
    assert facts.command.startswith("ntm train copy --model ntm-ff --paper --seed 7 --sequences 20")
    assert "--set model.memory_locations=7" in facts.command


def test_a_network_trained_with_drawings_is_measured_on_fair_bits(tmp_path: Path) -> None:
    first = small_run(tmp_path / "first", "ntm-ff")
    later = {"start_from": str(first.path), "seed": 2}
    train(first.settings.with_(task={"structured": 0.6}, training=later), tmp_path / "second")
    facts = pretrained.read_facts(pretrained.publish(Run(tmp_path / "second"), tmp_path))
    assert facts.settings.task == first.settings.task
    made_first, made_next = facts.command.split(" && ")
    assert made_first.startswith("ntm train copy --model ntm-ff --paper --seed 1 ")
    assert f"--set training.start_from={first.path}" in made_next
    assert "--set task.structured=0.6" in made_next


def test_beyond_the_range_counts_in_the_choice(tmp_path: Path) -> None:
    runs = [small_run(tmp_path / f"{seed}", "ntm-ff", seed) for seed in (1, 2)]
    for run, beyond in zip(runs, (100.0, 1.0), strict=True):
        net, known = run.load_model("best")
        facts = {"sequences": 20, "validation_bits": known["validation_bits"]}
        run.save_weights("best", net, facts | {"beyond_bits": beyond})
    (file,) = pretrained.publish_best(runs, tmp_path)
    assert pretrained.read_facts(file).settings.training.seed == 2


@pytest.mark.parametrize("name", pretrained.names())
def test_every_network_has_a_card(name: str) -> None:
    facts = pretrained.facts(name)
    within = facts.abilities[0]
    assert within.at == {}
    assert facts.command.startswith(f"ntm train {facts.settings.task.name} --model ")


def test_the_command_shows_all_cards(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pretrained"]) == 0
    text = capsys.readouterr().out
    assert all(f"{name} " in text for name in pretrained.names())
    assert "length 120" in text
    assert "made by: ntm train copy" in text
    of_ngrams = text.partition("ngrams-ff ")[2].partition("priority-sort")[0]
    assert of_ngrams.count(" bits above the optimum") == 4
    assert "wrong bit" not in of_ngrams
    assert main(["pretrained", "copy-ff"]) == 0
    assert "100 % of 200 without a wrong bit" in (one := capsys.readouterr().out)
    assert "copy-lstm" not in one
    assert main(["pretrained", "--json"]) == 0
    cards = json.loads(capsys.readouterr().out)
    assert list(cards) == pretrained.names()
    assert cards["copy-ff"]["abilities"][1]["at"] == {"length": 120}
