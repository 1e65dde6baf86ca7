"""Who won: counts of votes on pairs, their likelihood with ties, its maximum, and what workers are worth."""
