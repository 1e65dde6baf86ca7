"""From a comparison's file to a plan of cells."""
