"""A gateway beside its Fuseki: either is killed or stopped under load, and the other recovers by itself."""
