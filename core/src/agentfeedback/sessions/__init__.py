"""The engine: finding, scanning, listing and digesting sessions under the policy."""
