// summary: How many edges some nodes have by predicate and direction, with the first and the last neighbour.
// $5 LIST<STRING>: The nodes.
// $6 INTEGER: Rows at most.
// Several nodes may have one ID: their edges are those of one node.
UNWIND $5 AS id
CALL (id) {{
  MATCH (n:{labels} {{{id}: id}})-[r]->(o:{labels})
  WHERE o.{id} IS :: STRING NOT NULL AND {rule}
  RETURN false AS is_incoming, type(r) AS predicate, count(DISTINCT o.{id}) AS found,
    min(o.{id}) AS first, max(o.{id}) AS last
  UNION ALL
  MATCH (s:{labels})-[r]->(n:{labels} {{{id}: id}})
  WITH s, r, n AS o
  WHERE s.{id} IS :: STRING NOT NULL AND {rule}
  RETURN true AS is_incoming, type(r) AS predicate, count(DISTINCT s.{id}) AS found,
    min(s.{id}) AS first, max(s.{id}) AS last
}}
WITH [id, predicate, is_incoming, found, first, last] AS row
LIMIT $6
{chunks}
