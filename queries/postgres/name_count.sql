-- summary: How many entities have a name, or a synonym.
-- $1 boolean: Whether synonyms are asked for, not names.
-- $2 bigint: Rows at most.
SELECT count(DISTINCT n.id) AS found FROM {nodes} AS n
WHERE CASE
  WHEN $1::boolean THEN EXISTS (SELECT FROM jsonb_array_elements_text(n.synonyms) AS s(text) WHERE s.text ~ '\S')
  ELSE n.name ~ '\S'
END
LIMIT $2
