"""Client libraries that others wrote, each in an environment of its own, against the gateway."""
