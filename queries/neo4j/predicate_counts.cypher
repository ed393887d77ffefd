// summary: How many edges each predicate has; relationships that say the same are one, the most frequent first.
// $5 INTEGER: Rows at most.
CALL () {{
  MATCH (n:{labels})
  WHERE n.{id} IS :: STRING NOT NULL
  RETURN count(*) > count(DISTINCT n.{id}) AS has_shared_ids
}}
CALL (has_shared_ids) {{
  // Counted node by node: all edges at once would take the memory of the server.
  MATCH (s:{labels})
  WHERE NOT has_shared_ids AND s.{id} IS :: STRING NOT NULL
  CALL (s) {{
    MATCH (s)-[r]->(o:{labels})
    WHERE o.{id} IS :: STRING NOT NULL AND {rule}
    WITH DISTINCT type(r) AS predicate, o
    RETURN predicate, count(*) AS own
  }}
  RETURN predicate, sum(own) AS found
  UNION ALL
  // Several nodes have one ID: their edges are those of one node.
  MATCH (s:{labels})-[r]->(o:{labels})
  WHERE has_shared_ids AND s.{id} IS :: STRING NOT NULL AND o.{id} IS :: STRING NOT NULL AND {rule}
  WITH DISTINCT s.{id} AS subject, type(r) AS predicate, o.{id} AS object
  RETURN predicate, count(*) AS found
}}
WITH predicate, found
ORDER BY found DESC
LIMIT $5
WITH [predicate, found] AS row
{chunks}
