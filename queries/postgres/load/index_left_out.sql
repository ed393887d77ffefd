-- summary: The indexes of the table of what is left out.
CREATE INDEX ON {left_out} (subject_id, predicate);
CREATE INDEX ON {left_out} (object_id, predicate);
ANALYZE {left_out}
