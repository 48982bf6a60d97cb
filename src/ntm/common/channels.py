"""Kinds of input and output channels."""

from typing import Literal

ChannelKind = Literal["bits", "symbols"]
"""Kind of the channels: each is a bit, or each is a symbol and a step has one symbol."""
