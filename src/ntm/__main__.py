"""Entry point of `python -m ntm`, which runs the `ntm` command."""

import sys

if __name__ == "__main__":
    from ntm.commands.main import main

    sys.exit(main())
