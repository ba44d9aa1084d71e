"""The manual's generated pages, and what mkdocs calls to make them (`make docs`)."""
