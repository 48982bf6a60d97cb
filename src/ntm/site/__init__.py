"""Static website: play view, story and training, with the engine as WebAssembly.

    ntm site --out public      # then serve the folder with any web server for static files

The page's data is generated from the registries: see `ntm.site.catalogue`.
"""

from ntm.site.build import build

__all__ = ["build"]
