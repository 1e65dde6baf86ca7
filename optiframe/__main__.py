"""`python -m optiframe`."""

from optiframe.cli import main

main()
