"""How far to believe a run: who was left out, what the theory promises, what a compressor loses."""
