"""The names of the page's parts, each written once. The scripts (assets/atlas/page.mjs) know those that are marked."""

# What decides the view
ADDRESS = "address"  # the query string the page was opened with, or went back to (scripts)
SCREEN = "screen"  # width in pixels and whether the page is dark (scripts)
PINS = "pins"  # names of the pinned heads (scripts)
QUERY = "query"  # the view's own query string, without pins

# Controls
MODEL = "model"
VIEW = "view"
HOW = "how"
KIND = "kind"
COLOUR = "colour"
RELATION = "relation"
TAU = "tau"
TAU_SHOWN = "tau-shown"
TOP = "top"
TASKS = "tasks"
COLUMNS = "columns"
GATES = "gates"
SEED = "seed"
FIT = "fit"
ROLE = "role"
ROLE_SHOWN = "role-shown"
FUNCTION_CONTROLS = "function-controls"
CAUSAL_CONTROLS = "causal-controls"
TRANSPOSE = "transpose"  # (scripts)
PALETTE = "palette"
THEME = "theme"

# What is shown
PROVIDER = "provider"  # (scripts)
PAGE = "page"
NOTICES = "notices"
SENTENCE = "sentence"
MAPS = "maps"  # (scripts)
FRAME = "frame"  # around the maps: the scripts draw outlines in it and it takes the keyboard (scripts)
HEADS = "heads"  # the numbers behind the maps, for tooltip and keyboard
LEGEND = "legend"
BESIDE = "beside"  # layer profile and counts of the function map
PROFILE = "profile"
EVIDENCE = "evidence"  # what speaks for and against the causal map
FACTS = "facts"  # its tasks: accuracy, seeds, shares of heads
VALIDATION = "validation"
VALIDATION_CARD = "validation-card"
LOSSES = "losses"
LOSSES_CARD = "losses-card"
CURVES = "curves"  # what the two were drawn from, so that moving θ draws neither again
NO_CAUSAL = "no-causal"  # instead of a causal map that is not there
COUNTS = "counts"
ABSENT = "absent"
INSPECTOR = "inspector"  # (scripts)
CARDS = "cards"  # the inspector's cards as data
TABLE = "table"
TABLE_FRAME = "table-frame"
TITLE = "title"

# Models and jobs
WORKSHOP = "workshop"
JOBS = "jobs"  # what is told of the jobs (scripts)
FRESH = "fresh"  # changes when the model on the screen has more layers than before (scripts)
JOB_LIST = "job-list"
MODEL_LIST = "model-list"
POLL = "poll"  # asks for them when no message comes
NEW_FORM = "new-form"  # (scripts)
NEW_SUBMIT = "new-submit"  # (scripts)
ATLAS = "atlas"  # everything but models and jobs

# Tools
SEARCH = "search"  # (scripts)
COPY = "copy"  # (scripts)
HELP = "help"  # (scripts)
HELP_OPEN = "help-open"
DOWNLOADS = "downloads"
LIVE = "live"  # announcements for screen readers (scripts)
