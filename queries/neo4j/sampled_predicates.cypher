// summary: The predicates of some edges, with how many of these have them, the most frequent first.
// $5 INTEGER: Edges that are looked at, at most.
// $6 INTEGER: Rows at most.
MATCH (s:{labels})-[r]->(o:{labels})
WHERE s.{id} IS :: STRING NOT NULL AND o.{id} IS :: STRING NOT NULL AND {rule}
WITH r
LIMIT $5
WITH type(r) AS predicate, count(*) AS found
ORDER BY found DESC
LIMIT $6
WITH [predicate, found] AS row
{chunks}
