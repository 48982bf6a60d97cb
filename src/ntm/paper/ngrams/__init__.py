"""Dynamic n-grams: its experiment, the paper's curves, measurements of the heads, figures."""
