"""python -m ntm.pretrained RUN...: publish the best of these runs, for each network."""

import sys

from ntm.pretrained import publish_best
from ntm.runs import Run

if __name__ == "__main__":
    for file in publish_best(map(Run, sys.argv[1:])):
        print(file)
