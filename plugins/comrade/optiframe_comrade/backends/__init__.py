"""Where the workers live: in this process, on a Dask cluster, on Flower nodes; one a module, or a folder."""
