"""The data of the methods: relations, tasks and their prompts, and the results that ship with the project."""
