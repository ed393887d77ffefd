-- summary: How many ends of edges have no name, among all ends or those of some edges.
-- $4 bigint: Edges whose ends are looked at, at most.
-- $5 bigint: Rows at most.
WITH sampled AS (SELECT e.s, e.o FROM {edges} AS e WHERE {rule} LIMIT $4),
  ends AS (SELECT s AS id FROM sampled UNION SELECT o FROM sampled)
SELECT count(*) AS found, count(*) FILTER (WHERE NOT EXISTS (
  SELECT FROM {nodes} AS n
  WHERE n.id = ends.id AND (n.name ~ '\S' OR EXISTS (
    SELECT FROM jsonb_array_elements_text(n.synonyms) AS s(text) WHERE s.text ~ '\S'
  ))
)) AS nameless
FROM ends
LIMIT $5
