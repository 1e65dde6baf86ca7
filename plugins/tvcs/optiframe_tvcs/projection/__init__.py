"""The exact projection: its plan, prices, the supports it selects and the certificate that proves them."""
