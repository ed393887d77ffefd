"""What stores over databases share: texts as IRIs, rows as edges, nodes, schema and hits."""
