"""`python -m ntm` is `ntm`."""

import sys

if __name__ == "__main__":
    from ntm.commands.main import main

    sys.exit(main())
