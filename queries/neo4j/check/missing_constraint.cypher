// summary: Makes an index of the IDs of a label, which are of one node each; for the operator, never sent.
CREATE CONSTRAINT FOR (n:{label}) REQUIRE n.{id} IS UNIQUE;
