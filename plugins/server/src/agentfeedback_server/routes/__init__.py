"""The routes: what a request is, and which part of the server answers it."""
