"""TopDRL's page: its policies, its picture, and what is filled into it."""
