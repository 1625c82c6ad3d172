"""One module a controller: its manager, its rights, and what it reads from caches."""
