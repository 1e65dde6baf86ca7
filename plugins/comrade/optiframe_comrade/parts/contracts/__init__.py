"""What filters, attacks and compressors must keep, as checks for `optiframe check`."""
