"""Several graphs in one server: each under its own path, and all behind one server whose tools take `graph`."""
