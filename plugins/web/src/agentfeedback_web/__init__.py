"""What a server of this project stands on, whatever it serves: HTTP, SQL, objects, logs, metrics."""
