"""The commands, one file each: `HELP`, `add_arguments(parser)` and `run(options)`, an exit code.

A command imports what is costly when it runs, so that `ntm --help` takes no time.
"""

COMMANDS = (
    *("train", "eval", "analyse", "figures", "trace", "studio", "site"),
    *("pretrained", "params", "info"),
    *("sweep", "reproduce", "results", "bench", "demo", "completion"),
)
"""In the order of the help."""
