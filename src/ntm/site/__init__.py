"""Static website: play view, story and training, with the engine as WebAssembly.

    ntm site --out public      # then serve the folder with any web server for static files

The data of the page is generated from the lists of tasks, models and packaged networks: see
`ntm.site.catalogue`.
"""

from ntm.site.build import build

__all__ = ["build"]
