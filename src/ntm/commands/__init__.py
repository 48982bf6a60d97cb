"""The commands of `ntm`, one file each.

Each file has `HELP`, `add_arguments(parser)` and `run(options)`, which returns the exit code. Slow
imports happen in `run`, so that `ntm --help` is fast.
"""

COMMANDS = (
    *("train", "eval", "analyse", "figures", "trace", "studio", "site"),
    *("pretrained", "params", "info"),
    *("sweep", "reproduce", "results", "bench", "demo", "completion"),
)
"""Names of the commands, in the order of the help."""
