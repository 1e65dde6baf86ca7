"""Which workers were left out, and what the theory promises."""
