"""Finding entities by the API of the Wikibase that they come from, where the SPARQL endpoint cannot search names."""
