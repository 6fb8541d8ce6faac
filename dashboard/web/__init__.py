"""What the server answers: the page, its exports, the API, the progress of jobs."""
