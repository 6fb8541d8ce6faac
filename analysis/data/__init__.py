"""What the methods ask about: relations, tasks and their prompts; and the results that ship with the project."""
