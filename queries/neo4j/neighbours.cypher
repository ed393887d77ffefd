// summary: The nodes that are one hop from some nodes.
// $5 LIST<STRING>: The nodes.
// $6 INTEGER: Rows at most.
UNWIND $5 AS id
MATCH (n:{labels} {{{id}: id}})
CALL (n) {{
  MATCH (n)-[r]->(o:{labels})
  WHERE o.{id} IS :: STRING NOT NULL AND {rule}
  RETURN o.{id} AS other
  UNION ALL
  MATCH (s:{labels})-[r]->(n)
  WITH s, r, n AS o
  WHERE s.{id} IS :: STRING NOT NULL AND {rule}
  RETURN s.{id} AS other
}}
WITH DISTINCT [other] AS row
LIMIT $6
{chunks}
