-- summary: The indexes that the queries use, made after all rows are there, and the statistics of the planner.
CREATE UNIQUE INDEX ON {edges} (subject_id, predicate, object_id);
CREATE INDEX ON {edges} (object_id, predicate, subject_id);
CREATE INDEX ON {edges} (predicate);
CREATE INDEX ON {nodes} (entity_type);
CREATE INDEX ON {nodes} (lower(name));
CREATE INDEX ON {evidence} (relationship_id);
ANALYZE {nodes}, {edges}, {evidence}
