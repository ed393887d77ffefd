-- summary: The rows of the table that counts what `load` left out, under the names that the other queries use.
(
  SELECT kind, subject_id AS s, predicate AS p, object_id AS o, entity_type AS type, count FROM {table}
)
