// summary: The edges of some nodes, in both directions.
// $5 LIST<STRING>: The nodes.
// $6 LIST<STRING>: Types of outgoing relationships; null: all.
// $7 LIST<STRING>: Types of incoming relationships; null: all.
// $8 INTEGER: Rows at most.
UNWIND $5 AS id
MATCH (n:{labels} {{{id}: id}})
CALL (n) {{
  MATCH (n)-[r]->(o:{labels})
  WHERE o.{id} IS :: STRING NOT NULL AND ($6 IS NULL OR type(r) IN $6) AND {rule}
  RETURN n.{id} AS subject, type(r) AS predicate, o.{id} AS object
  UNION ALL
  MATCH (s:{labels})-[r]->(n)
  WITH s, r, n AS o
  WHERE s.{id} IS :: STRING NOT NULL AND ($7 IS NULL OR type(r) IN $7) AND {rule}
  RETURN s.{id} AS subject, type(r) AS predicate, o.{id} AS object
}}
WITH DISTINCT subject, predicate, object
LIMIT $8
WITH [subject, predicate, object] AS row
{chunks}
