"""Copy: its experiment, the paper's curves and the measurements of the heads."""
