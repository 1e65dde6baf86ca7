"""The exact projection: its plan, prices, rounding and certificate."""
