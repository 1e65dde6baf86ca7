"""Problems that other people have collected: each collection a file, over the library that holds it."""
