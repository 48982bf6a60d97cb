"""For all tests: one thread per process, and the same examples every time."""

import os

import torch
from hypothesis import settings

torch.set_num_threads(1)
os.environ["OMP_NUM_THREADS"] = "1"  # for the processes that tests start

# No deadline: how long an example takes says nothing about whether the code is right.
settings.register_profile("ntm", deadline=None, derandomize=True)
settings.load_profile("ntm")
