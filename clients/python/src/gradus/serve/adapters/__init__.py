"""Environments of other libraries, each read by one file. `gradus.serve._catalogue.ADAPTERS` lists them."""
