// summary: Makes an index of the IDs of a label, of which some are of several nodes; for the operator, never sent.
CREATE INDEX FOR (n:{label}) ON (n.{id});
