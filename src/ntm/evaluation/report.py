"""Text of an analysis, for the terminal."""

from typing import Any

from ntm.evaluation.findings import Analysis, Finding
from ntm.evaluation.weightings import MODES
from ntm.terminal.table import Table

_MARGIN = " " * 22


def as_text(analysis: Analysis) -> str:
    """Return the findings with the paper's claims, then the modes of addressing, as text."""
    heads = (
        f"Write head {analysis.write_head + 1} and read head {analysis.read_head + 1} "
        f"({analysis.chosen}), over {analysis.sequences} sequences:"
    )
    findings = "\n\n".join(_finding(finding) for finding in analysis.findings)
    return f"{heads}\n\n{findings}\n\n{_modes(analysis)}"


def _finding(finding: Finding) -> str:
    lines = [f"{finding.verdict:<14}{finding.value:6.3f}  {finding.name}"]
    if finding.claim:
        lines.append(f'{_MARGIN}the paper: "{finding.claim}"')
    lines.append(f"{_MARGIN}measured: {finding.measures}")
    if finding.numbers:
        shown = (f"{name.replace('_', ' ')} {_plain(v)}" for name, v in finding.numbers.items())
        lines.append(f"{_MARGIN}{'; '.join(shown)}")
    return "\n".join(lines)


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _modes(analysis: Analysis) -> str:
    rows = [
        (phase, kind, *(f"{share:.0%}" for share in shares.values()))
        for phase, kinds in analysis.modes.items()
        for kind, shares in kinds.items()
    ]
    return Table("", ("How it finds its locations", "head", *MODES), rows, texts=2).as_text()
