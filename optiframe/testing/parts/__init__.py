"""The contracts of objectives, sets, regularizers, problems and data sets."""
