-- summary: The tables of a loaded graph: those of the reference implementation, and one of what is left out.
CREATE TABLE {nodes} (
  entity_id text PRIMARY KEY,
  entity_type text,
  name text,
  status text,
  confidence double precision,
  source text,
  canonical_url text,
  synonyms jsonb,
  properties jsonb
);
CREATE TABLE {edges} (
  id uuid PRIMARY KEY,
  subject_id text NOT NULL,
  predicate text NOT NULL,
  object_id text NOT NULL,
  confidence double precision,
  source_documents jsonb,
  properties jsonb
);
CREATE TABLE {evidence} (
  relationship_id uuid NOT NULL,
  paper_id text,
  evidence_type text,
  confidence_score double precision,
  metadata_ jsonb
);
CREATE TABLE {left_out} (
  kind text NOT NULL,
  subject_id text,
  predicate text,
  object_id text,
  entity_type text,
  count bigint NOT NULL
)
