"""Where the workers live: in this process, on Dask, on Flower."""
