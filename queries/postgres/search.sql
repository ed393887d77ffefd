-- summary: Entities with a name or synonym that matches all given patterns, by a scan or a trigram index.
-- $1 text: The longest pattern. It stands alone because a trigram index takes one pattern.
-- $2 text[]: All patterns.
-- $3 text[]: Types of the entities; null: any.
-- $4 bigint: Rows at most.
SELECT f.id AS n, left(f.text, 4000) AS text, f.is_synonym FROM (
  SELECT n.id, n.type, n.properties, n.name AS text, false AS is_synonym FROM {nodes} AS n
  WHERE n.name ~ $1::text AND n.name ~ ALL ($2::text[])
  UNION ALL
  SELECT n.id, n.type, n.properties, s.text, true FROM {nodes} AS n
  CROSS JOIN LATERAL jsonb_array_elements_text(n.synonyms) AS s(text)
  WHERE s.text ~ ALL ($2::text[])
) AS f
WHERE $3::text[] IS NULL OR f.type = ANY ($3) OR f.properties -> '@type' ?| $3
LIMIT $4
