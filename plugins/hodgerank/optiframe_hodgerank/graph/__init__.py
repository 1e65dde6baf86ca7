"""The comparison graph and what is solved on it: merged rows, Laplacians, triangles."""
