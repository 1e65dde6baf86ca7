"""A round between coordinator and workers: both ends, who gets which rows, and the books."""
