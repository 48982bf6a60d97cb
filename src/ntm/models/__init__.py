"""Model families: what a run can train."""
