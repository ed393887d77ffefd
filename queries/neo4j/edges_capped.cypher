// summary: Some edges of each of some nodes: of each direction, so many at most.
// $5 LIST<STRING>: The nodes.
// $6 LIST<STRING>: Types of outgoing relationships; null: all.
// $7 LIST<STRING>: Types of incoming relationships; null: all.
// $8 INTEGER: Edges of one node in one direction at most.
// $9 INTEGER: Rows at most.
// Several nodes may have one ID: their edges are those of one node.
UNWIND $5 AS id
CALL (id) {{
  MATCH (n:{labels} {{{id}: id}})-[r]->(o:{labels})
  WHERE o.{id} IS :: STRING NOT NULL AND ($6 IS NULL OR type(r) IN $6) AND {rule}
  WITH DISTINCT n.{id} AS subject, type(r) AS predicate, o.{id} AS object
  LIMIT $8
  RETURN false AS is_incoming, subject, predicate, object
  UNION ALL
  MATCH (s:{labels})-[r]->(n:{labels} {{{id}: id}})
  WITH s, r, n AS o
  WHERE s.{id} IS :: STRING NOT NULL AND ($7 IS NULL OR type(r) IN $7) AND {rule}
  WITH DISTINCT s.{id} AS subject, type(r) AS predicate, o.{id} AS object
  LIMIT $8
  RETURN true AS is_incoming, subject, predicate, object
}}
WITH [id, is_incoming, subject, predicate, object] AS row
LIMIT $9
{chunks}
