"""The method of the paper and its variants on rank-one completion, one a file."""
