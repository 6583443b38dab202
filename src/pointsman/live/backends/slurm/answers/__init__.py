"""What the commands of Slurm print, read into records: text of any version from 20.11, and JSON."""
