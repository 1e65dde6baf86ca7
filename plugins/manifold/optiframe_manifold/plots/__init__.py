"""Pictures that compare methods: convergence, error and time."""
