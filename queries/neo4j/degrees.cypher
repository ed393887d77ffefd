// summary: How many edges each of some nodes has, counted up to a bound.
// $5 LIST<STRING>: The nodes.
// $6 LIST<STRING>: Types of outgoing relationships; null: all.
// $7 LIST<STRING>: Types of incoming relationships; null: all.
// $8 INTEGER: Edges of one node in one direction that are counted at most.
// $9 INTEGER: Rows at most.
// Several nodes may have one ID: their edges are those of one node.
UNWIND $5 AS id
WITH id
WHERE EXISTS {{ (:{labels} {{{id}: id}}) }}
WITH id, COLLECT {{
  MATCH (n:{labels} {{{id}: id}})-[r]->(o:{labels})
  WHERE o.{id} IS :: STRING NOT NULL AND ($6 IS NULL OR type(r) IN $6) AND {rule}
  WITH DISTINCT type(r) AS predicate, o.{id} AS object
  LIMIT $8
  RETURN [predicate, object]
}} AS outgoing, COLLECT {{
  MATCH (s:{labels})-[r]->(n:{labels} {{{id}: id}})
  WITH s, r, n AS o
  WHERE s.{id} IS :: STRING NOT NULL AND ($7 IS NULL OR type(r) IN $7) AND {rule}
  WITH DISTINCT type(r) AS predicate, s.{id} AS subject
  LIMIT $8
  RETURN [predicate, subject]
}} AS incoming
// A relationship of a node to itself is in both.
WITH id, outgoing, incoming, [pair IN incoming WHERE pair[1] = id AND pair IN outgoing] AS both
WITH [id, size(outgoing) + size(incoming) - size(both), size(outgoing) < $8 AND size(incoming) < $8] AS row
LIMIT $9
{chunks}
