from pathlib import Path

import pytest
import torch

from ntm import NTM, pretrained
from ntm.evaluation import evaluate
from ntm.runs import Run, RunError
from ntm.training import paper_settings, train


@pytest.mark.parametrize("name", pretrained.names())
def test_a_pretrained_network_costs_what_is_published(name: str) -> None:
    net, facts = NTM.from_pretrained(name), pretrained.facts(name)
    measured = evaluate(net, facts.settings.task, pretrained.SEQUENCES, pretrained.SEED)
    # Other vector instructions round otherwise, and a hard sequence can amplify that.
    assert measured.mean_bits == pytest.approx(facts.mean_bits, rel=0.02, abs=1e-3)


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
    with pytest.raises(ValueError, match="no pretrained network called"):
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
