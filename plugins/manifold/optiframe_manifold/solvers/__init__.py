"""The Riemannian trust region and where it starts."""
