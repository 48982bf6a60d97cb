"""Priority sort: its experiment, the paper's curves, measurements of the heads, figures."""
