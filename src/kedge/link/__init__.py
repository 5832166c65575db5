"""From scores to answers: candidates, evidence, probability, one-to-one assignment, decision, explanation."""
