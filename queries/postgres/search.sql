-- summary: Entities with a name or synonym that matches all given patterns, by a scan or a trigram index; and the nodes without one whose IDs match, of few edges.
-- $1 text: The longest pattern. It stands alone because a trigram index takes one pattern.
-- $2 text[]: All patterns.
-- $3 text[]: Types of the entities; null: any.
-- $4 text[]: Patterns of IDs in lower case; null: none is compared.
-- $5 bigint: Rows at most.
-- IDs are compared where there are at most 200,000 edges and as many nodes: that takes a part of a second. Else a first
-- row about no entity says that they were not.
WITH is_small AS (
  SELECT (SELECT count(*) FROM (SELECT FROM {edges} AS e LIMIT 200001) AS few) <= 200000
    AND (SELECT count(*) FROM (SELECT FROM {nodes} AS n LIMIT 200001) AS few) <= 200000 AS holds
  WHERE $4::text[] IS NOT NULL
)
SELECT NULL AS n, NULL AS text, true AS is_synonym FROM is_small WHERE NOT holds
UNION ALL
SELECT f.id, left(f.text, 4000), f.is_synonym FROM (
  SELECT n.id, n.type, n.properties, n.name AS text, false AS is_synonym FROM {nodes} AS n
  WHERE n.name ~ $1::text AND n.name ~ ALL ($2::text[])
  UNION ALL
  SELECT n.id, n.type, n.properties, s.text, true FROM {nodes} AS n
  CROSS JOIN LATERAL jsonb_array_elements_text(n.synonyms) AS s(text)
  WHERE s.text ~ ALL ($2::text[])
  UNION ALL
  SELECT n.id, n.type, n.properties, NULL, false FROM {nodes} AS n
  WHERE (SELECT holds FROM is_small) AND lower(n.id) ~ ALL ($4::text[]) AND (n.name ~ '\S') IS NOT TRUE AND NOT EXISTS (
    SELECT FROM jsonb_array_elements_text(n.synonyms) AS s(text) WHERE s.text ~ '\S'
  )
  UNION ALL
  SELECT ends.id, NULL, NULL, NULL, false FROM (
    SELECT e.s AS id FROM {edges} AS e WHERE (SELECT holds FROM is_small) AND lower(e.s) ~ ALL ($4::text[])
    UNION
    SELECT e.o FROM {edges} AS e WHERE (SELECT holds FROM is_small) AND lower(e.o) ~ ALL ($4::text[])
  ) AS ends
  WHERE NOT EXISTS (SELECT FROM {nodes} AS n WHERE n.id = ends.id)
) AS f
WHERE $3::text[] IS NULL OR f.type = ANY ($3) OR f.properties -> '@type' ?| $3
LIMIT $5
