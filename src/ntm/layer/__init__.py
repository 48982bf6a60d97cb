"""The Neural Turing Machine as a layer: a drop-in `torch.nn.Module`.

base         arguments, engine, loading and saving of networks
network      NTM, the module
checks       checks of the arguments, with an error for each wrong one
forms        the input forms of nn.LSTM (batch, one sequence, packed sequences), and autocast
episodes     resets within a sequence
switches     copies of a network with one part of the machine turned off
rebuilding   new networks of a class: from a config, as a larger copy, without values
"""

from ntm.layer.network import NTM

__all__ = ["NTM"]
