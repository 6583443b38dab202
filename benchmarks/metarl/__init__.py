"""What a scheduler gains that corrects its model of interference by the speeds of running jobs."""
