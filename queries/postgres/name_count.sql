-- summary: How many entities have a name, or a synonym.
-- $1 boolean: Whether synonyms are asked for, not names.
-- $2 bigint: Rows at most.
SELECT count(DISTINCT n.id) AS found FROM {nodes} AS n
WHERE CASE WHEN $1::boolean THEN jsonb_path_exists(n.synonyms, '$[*] ? (@.type() == "string")') ELSE n.name <> '' END
LIMIT $2
