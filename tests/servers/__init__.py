"""Real SPARQL servers on loopback for the tests: Jena Fuseki, Oxigraph, Virtuoso and Blazegraph.

Nothing here is part of the package that users install.
"""
