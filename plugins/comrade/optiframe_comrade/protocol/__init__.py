"""What travels between coordinator and workers, and the round it makes."""
