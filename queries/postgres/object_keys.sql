-- summary: The keys under which the properties of nodes have objects, at any depth, that are no value objects of JSON-LD.
-- $1 bigint: Rows at most.
-- Texts are looked at first: most properties have no object in them.
SELECT DISTINCT k.pair ->> 'key' AS key
FROM {nodes} AS n
CROSS JOIN LATERAL jsonb_path_query(
  jsonb_build_array(n.properties, n.columns),
  '$.** ? (@.type() == "object").keyvalue() ? (exists(@.value.** ? (
    @.type() == "object" && (exists(@."@id") || !exists(@."@value"))
  )))'
) AS k(pair)
WHERE position('{{' IN substr(n.properties::text, 2)) > 0 OR position('{{' IN substr(n.columns::text, 2)) > 0
LIMIT $1
