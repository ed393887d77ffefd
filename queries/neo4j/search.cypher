// summary: Entities with a name or synonym that matches all given patterns, by a scan; and the nodes without one whose IDs match.
// $1 to $3: See `parts/matching.cypher`.
// $4 LIST<STRING>: Patterns of IDs in lower case, as expressions of Java for the whole text; null: none is compared.
// $5 INTEGER: Rows at most.
CALL () {{
  MATCH (n:{labels})
  {matching}
  RETURN row
  UNION ALL
  MATCH (n:{labels})
  WHERE $4 IS NOT NULL AND n.{id} IS :: STRING NOT NULL AND all(pattern IN $4 WHERE toLower(n.{id}) =~ pattern)
    AND ($3 IS NULL OR any(type IN {types} WHERE type IN $3))
    AND size({names} + {synonyms}) = 0
  RETURN [n.{id}, null, false] AS row
}}
WITH row
LIMIT $5
{chunks}
