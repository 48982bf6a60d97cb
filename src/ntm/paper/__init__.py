"""The paper: its tables, protocols and published curves, and what it says of the heads."""
