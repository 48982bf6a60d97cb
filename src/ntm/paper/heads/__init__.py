"""What the paper says of the heads on its tasks, measured."""
