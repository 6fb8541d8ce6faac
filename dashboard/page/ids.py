"""The names of the page's parts, each written once. The scripts (assets/atlas/page.mjs) know those that are marked."""

# What decides the view
ADDRESS = "address"  # the query string the page was opened with, or went back to (scripts)
SCREEN = "screen"  # width in pixels and whether the page is dark (scripts)
PINS = "pins"  # names of the pinned heads (scripts)
QUERY = "query"  # the view's own query string, without pins
FOLLOWED = "followed"  # the view's query string, and the one that the page came to from it by itself (scripts)

# Controls: those of the maps have the keys of the address for names
MODEL = "model"
VIEW = "view"
TRANSPOSE = "transpose"  # (scripts)
PALETTE = "palette"
THEME = "theme"  # of this browser, in no address (scripts)


def group(map_name: str) -> str:
    """The controls of one map."""
    return f"{map_name}-controls"


def sections(map_name: str) -> str:
    """What stands below one map."""
    return f"{map_name}-sections"


def card(section_key: str) -> str:
    """A section with its title."""
    return f"{section_key}-card"


def figure(section_key: str) -> str:
    """The figure of a section, which the scripts draw."""
    return f"{section_key}-figure"


def advanced(map_name: str) -> str:
    """Those of them that are folded away."""
    return f"{map_name}-advanced"


def control(key: str) -> str:
    """A control with its name."""
    return f"{key}-control"


def reason(key: str) -> str:
    """Why a control does nothing in a state."""
    return f"{key}-reason"


def number(key: str) -> str:
    """The value of a control beside its name."""
    return f"{key}-shown"


# What is shown
PROVIDER = "provider"  # (scripts)
PAGE = "page"
NOTICES = "notices"
SENTENCE = "sentence"  # (scripts)
WARNING = "warning"  # above the maps: what one must know before believing them
MAPS = "maps"  # (scripts)
FRAME = "frame"  # around the maps: the scripts draw outlines in it and it takes the keyboard (scripts)
HEADS = "heads"  # the numbers behind the maps, for tooltip and keyboard (scripts)
LEGEND = "legend"  # (scripts)
SENT = "sent"  # what the sections were drawn from, so that an unchanged one is not drawn again
EMPTY = "empty"  # instead of a map that the model does not have
INSPECTOR = "inspector"  # (scripts)
DRAWER = "drawer"  # around it: a sheet above the page on a phone (scripts)
CARDS = "cards"  # the inspector's cards as data
TABLE = "table"  # (scripts)
TABLE_FRAME = "table-frame"
TABLE_CONTENT = "table-content"  # its columns and cells, packed; the scripts make its rows
TABLE_GRID = "table-grid"  # around the grid, which comes when the table is first opened
TABLE_COUNT = "table-count"  # how many rows its filter leaves (scripts)
TABLE_CLEAR = "table-clear"  # leaves all rows again (scripts)

# Models and jobs
WORKSHOP = "workshop"
JOBS = "jobs"  # the jobs as they were last sent (scripts)
NEWS = "news"  # grows when the list of jobs is shown and older than the jobs: the server, which knows them, makes it
FRESH = "fresh"  # changes when the model on the screen has more layers than before (scripts)
JOB_LIST = "job-list"
MODEL_LIST = "model-list"
FINISHED = "finished"  # the finished jobs that the list of models was made after (scripts)
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
PAIRS = "pairs"  # the pairs behind a score: a dialog, which the scripts fill (scripts)
PAIRS_ABOUT = "pairs-about"  # (scripts)
PAIRS_TABLE = "pairs-table"  # (scripts)
HEADING = "heading"  # of the page, for screen readers (scripts)
LIVE = "live"  # announcements for screen readers (scripts)
