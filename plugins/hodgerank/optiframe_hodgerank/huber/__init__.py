"""Huber's regression on the comparison graph, by Newton's method or on a grid of lambdas."""
