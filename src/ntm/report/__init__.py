"""The paper's section 4 from one command: train, measure, draw, and put all of it on one page.

    ntm reproduce --quick --out reproduction      # minutes; without --quick, as long as the paper
    ntm results runs --out results                # tables and figures of runs you have

docs/reproduce.md has the whole story.
"""
