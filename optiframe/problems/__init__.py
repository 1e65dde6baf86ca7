"""Problems, objectives, constraint sets and data sets."""
