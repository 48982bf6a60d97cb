"""Loading and saving of networks, by two functions of higher layers.

The functions are named as text and imported by the first call. This way, no layer imports a higher
one.
"""

from ntm.common.lazy import later

load_network = later("ntm.pretrained:load_network")
save_network = later("ntm.runs.saving:save")
