"""Networks in files: two calls of the layers above, which know tasks and packaged networks.

The functions are named as text. A call imports them, so no import leads upwards.
"""

from ntm.common.lazy import later

load_network = later("ntm.pretrained:load_network")
save_network = later("ntm.runs.saving:save")
