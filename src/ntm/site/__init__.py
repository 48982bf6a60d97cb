"""The site: play view, story and training as plain files, with the engine as WebAssembly.

    ntm site --out public      # then serve the folder with anything, or open it offline later

The page's data is generated from the registries: see `ntm.site.catalogue`.
"""

from ntm.site.build import build

__all__ = ["build"]
