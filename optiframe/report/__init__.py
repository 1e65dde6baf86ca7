"""A stored comparison as a page to read (`page`) and as figures to print (`figures`)."""
