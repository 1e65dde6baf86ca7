"""The names this plugin brings; the classes are imported on use."""
