"""Section 4 of the paper from one command: train, measure, draw, and report on one page.

    ntm reproduce --quick --out reproduction      # minutes; without --quick, hours
    ntm results runs --out results                # tables and figures of existing runs

docs/reproduce.md describes both commands.
"""
