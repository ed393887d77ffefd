"""A `GraphStore` over any SPARQL engine: templates, batches, and the meaning of rows."""
