-- summary: The indexes of a table that serve any query: access method, keys, and operator class of the first key.
-- $1 text: The name of the table, quoted.
-- $2 bigint: Rows at most.
SELECT m.amname::text, o.opcname::text,
  ARRAY (SELECT pg_get_indexdef(i.indexrelid, k, true) FROM generate_series(1, i.indnkeyatts::int) AS k)
FROM pg_index AS i
JOIN pg_class AS c ON c.oid = i.indexrelid
JOIN pg_am AS m ON m.oid = c.relam
JOIN pg_opclass AS o ON o.oid = i.indclass[0]
WHERE i.indrelid = to_regclass($1) AND i.indisvalid AND i.indpred IS NULL
LIMIT $2
