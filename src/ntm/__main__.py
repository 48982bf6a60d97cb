"""`python -m ntm` is `ntm`."""

import sys

from ntm.cli import main

sys.exit(main())
