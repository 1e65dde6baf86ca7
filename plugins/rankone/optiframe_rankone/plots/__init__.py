"""Pictures of skills, accuracy and the worker graph."""
