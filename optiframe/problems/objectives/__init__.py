"""What is minimized: objectives with their derivatives."""
