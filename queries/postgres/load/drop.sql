-- summary: Removes the tables of a graph that was loaded before; their readers are not waited for without end.
SET LOCAL lock_timeout = '10s';
DROP TABLE IF EXISTS {left_out}, {evidence}, {edges}, {nodes}
