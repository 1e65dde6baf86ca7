"""General optimizers of other libraries: each library a file, over what they share in `engines`."""
