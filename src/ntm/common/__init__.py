"""Parts for every layer: settings fields, registries, files and text. Standard library only."""
