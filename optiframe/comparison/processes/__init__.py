"""Child processes: started, limited, watched, and ended with all they started."""
