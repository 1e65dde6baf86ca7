"""Running cells: isolated child processes here or on Dask, timed and watched."""
