"""The commands of `ntm`, one file each.

The docstring of a file is the help text of its command. `add_arguments(parser)` adds the options,
and `run(options)` returns the exit code, or None for 0. Slow imports happen in `run`, so that
`ntm --help` is fast.
"""

COMMANDS = (
    *("train", "eval", "predict", "analyse", "figures", "trace", "studio", "site"),
    *("pretrained", "params", "info"),
    *("sweep", "reproduce", "results", "bench", "demo", "completion"),
)
"""Names of the commands, in the order of the help."""
