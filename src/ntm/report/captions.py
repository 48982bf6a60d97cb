"""Beside every figure: what the paper says of its own, and the numbers of both."""

from collections.abc import Callable, Sequence

from ntm.paper import published
from ntm.paper.published import bits_text
from ntm.report import tables
from ntm.report.groups import grouped
from ntm.report.measure import CASES, TRAINED_RANGE, case_name
from ntm.report.records import Record
from ntm.report.table import Table

NTM = ("ntm-ff", "ntm-lstm")

CAPTIONS = {
    1: "A controller, which alone meets the world, and a memory that it reads and writes through "
    "heads.",
    2: "How a head arrives at its weighting: by content, then interpolation with the last one, "
    "shift and sharpening.",
    3: "NTM with either controller learns much faster than LSTM alone, and converges to a lower "
    "cost.",
    4: "Trained on up to 20 vectors, the paper's network copies up to 50 with very few mistakes. "
    "At 120 a vector is duplicated, and all that follow are one step late.",
    5: "The paper's LSTM copies up to length 20 almost perfectly and clearly fails beyond.",
    6: "Inputs are written to one location after another, and read again from the same locations "
    "in the same order.",
    7: "NTM learns much faster than LSTM, but both solve the task.",
    8: "The paper's NTM repeats longer sequences almost perfectly. With more repeats it goes on "
    "fairly accurately but cannot tell where the end is. Its LSTM fails at both.",
    9: "The sequence is written once and read again and again; at the end of each pass the read "
    "head jumps back to the start.",
    10: "NTM is near zero cost within about 30,000 sequences; LSTM is not after a million.",
    11: "With a feedforward controller, nearly perfect up to 12 items, twice as many as in "
    "training.",
    12: "At every delimiter a compressed form of the item before is written. The query is found by "
    "that form, and the answer is read one location further on.",
    13: "NTM has a small but significant advantage over LSTM, and never quite reaches the optimum.",
    14: "The predictions of NTM are close to the optimal ones, and closer than those of LSTM.",
    15: "The same context always meets the same location, where what followed it is counted.",
    16: "Vectors with priorities, and the 16 of highest priority in order.",
    17: "A linear function of the priority tells where a vector is written; reads run through the "
    "locations in order.",
    18: "NTM with either controller substantially outperforms LSTM.",
}
"""What the paper says of each of its figures."""


def numbers_beside(number: int, records: Sequence[Record]) -> list[Table]:
    """The numbers that belong to a figure, the paper's and ours."""
    made = (make(records) for make in _NUMBERS.get(number, ()))
    return [table for table in made if table.rows]


def best_record(records: Sequence[Record], task: str, *models: str) -> Record | None:
    """The run that figures show: the lowest validation cost of the first model that has a run."""
    for model in models:
        some = [record for record in records if (record.task, record.model) == (task, model)]
        if some:
            return min(some, key=lambda record: record.validation_bits)
    return None


def _curves(task: str) -> Callable[[Sequence[Record]], Table]:
    """The costs at the end of the learning curves."""

    def table(records: Sequence[Record]) -> Table:
        above = ", bits above the optimum" if task == "ngrams" else ", bits"
        rows = [
            (
                group.name,
                str(published.final_cost(task, group.model)),
                str(published.cost_at(task, group.model, group.records[0].sequences)),
                tables.spread([tables.cost(record) for record in group.records], bits_text),
            )
            for group in grouped(records, task)
        ]
        header = (f"network{above}", "the paper, at its end", "the paper, at ours", "here")
        return Table("", header, rows)

    return table


def _beyond(task: str, *models: str) -> Callable[[Sequence[Record]], Table]:
    """The costs of the network that a figure shows, beyond the trained range."""

    def table(records: Sequence[Record]) -> Table:
        record = best_record(records, task, *models)
        rows = [
            (
                case_name(at),
                bits_text(tables.cost(record, at)),
                tables.percent(tables.share(record, at)),
            )
            for at in CASES[task]
            if record is not None and at != TRAINED_RANGE
        ]
        title = f"`{record.name}`" if record else ""
        return Table(title, ("here", "bits", "without a wrong bit"), rows)

    return table


def _recall_items(records: Sequence[Record]) -> Table:
    """Figure 11 as numbers."""
    task = "associative-recall"
    rows = []
    for group in grouped(records, task):
        for at in CASES[task]:
            reading = published.recall_cost(group.model, at.get("items", 0))
            if reading is not None:
                here = tables.spread([tables.cost(r, at) for r in group.records], bits_text)
                rows.append((group.name, case_name(at), str(reading), here))
    return Table("", ("network", "", "the paper, bits", "here, bits"), rows, texts=2)


def _heads(task: str, *models: str) -> Callable[[Sequence[Record]], Table]:
    """What the heads of the network in a figure do, measured over many sequences."""

    def table(records: Sequence[Record]) -> Table:
        record = best_record(records, task, *models)
        findings = record.analysis["findings"] if record and record.analysis else []
        rows = [
            (finding["name"], f"{finding['value']:.3f}", finding["verdict"]) for finding in findings
        ]
        title = f"`{record.name}`" if record else ""
        return Table(title, ("what its heads do", "value", "verdict"), rows)

    return table


_NUMBERS: dict[int, tuple[Callable[[Sequence[Record]], Table], ...]] = {
    3: (_curves("copy"),),
    4: (_beyond("copy", *NTM),),
    5: (_beyond("copy", "lstm"),),
    6: (_heads("copy", *NTM),),
    7: (_curves("repeat-copy"),),
    8: (_beyond("repeat-copy", *NTM), _beyond("repeat-copy", "lstm")),
    9: (_heads("repeat-copy", *NTM),),
    10: (_curves("associative-recall"),),
    11: (_recall_items,),
    12: (_heads("associative-recall", *reversed(NTM)),),
    13: (_curves("ngrams"),),
    14: (_curves("ngrams"),),
    15: (_heads("ngrams", *NTM),),
    17: (_heads("priority-sort", *NTM),),
    18: (_curves("priority-sort"),),
}
