"""Any table in, checked columns inside, the same kind out."""
