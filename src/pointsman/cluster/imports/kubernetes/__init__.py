"""What Kubernetes says of its nodes."""
