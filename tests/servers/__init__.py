"""Real SPARQL servers on loopback for the tests: Jena Fuseki and Oxigraph.

Nothing here is part of the package that users install.
"""
