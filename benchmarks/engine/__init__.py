"""Benchmarks for developers of the native engine: `python -m benchmarks.engine`."""
