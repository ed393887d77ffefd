"""A trial: questions in plain language, answered by a model or a person with two ways to the same graph."""
