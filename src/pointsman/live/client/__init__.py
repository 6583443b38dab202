"""Commands of users and operators, which ask the daemon; standard library only, so that they start at once."""
