"""RDF files to a store in this process: parsed by a child process, stored between runs."""
