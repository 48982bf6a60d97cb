"""Kinds of input and output channels."""

from typing import Literal

ChannelKind = Literal["bits", "symbols"]
"""Every channel is a bit, or a symbol of which each step has one."""
