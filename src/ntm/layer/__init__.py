"""The Neural Turing Machine as a layer: a drop-in `torch.nn.Module`.

network      NTM, the module
checks       errors for arguments that a network does not take
forms        one sequence, packed sequences, autocast: what nn.LSTM takes
rebuilding   networks made again by their class: from a config, larger, without values
"""

from ntm.layer.network import NTM

__all__ = ["NTM"]
