"""How far to believe a run: what the theory promises, what a compressor loses."""
