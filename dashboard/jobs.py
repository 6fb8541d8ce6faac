"""A job as pages and scripts receive it: the same over the API, the WebSocket and on the page."""

from dataclasses import replace

from pydantic import BaseModel, Field

from analysis.jobs.job import ACTIVE, Job, JobStatus
from dashboard.maps import MAPS
from dashboard.state import ViewState


class MapLink(BaseModel):
    """A map of what a job computes."""

    title: str
    address: str


class JobState(BaseModel):
    """How far a job is."""

    id: str
    model: str
    revision: str
    state: JobStatus
    stage: str
    done: int
    total: int
    left: float | None
    message: str
    hint: str
    fingerprint: str
    created: str
    finished: str
    link: str = Field(description="the address of its first map; empty where it has none")
    links: list[MapLink] = Field(default=[], description="all maps that were asked for")
    methods: list[str] = Field(default=[], description="names of the methods that were asked for")
    asked: list[str] = Field(description="what was asked for beside the defaults, in words")
    remarks: list[str] = Field(default=[], description="what whoever asked should know")
    phase: str = Field("", description="the stage in short: which method is being computed")
    part: int = Field(0, description="which of several methods that is, counted from 1")
    parts: int = Field(0, description="how many methods there are, if there are several")
    doing: str = Field("", description="what of it is being done")

    @property
    def active(self) -> bool:
        """Waiting or running."""
        return self.state in ACTIVE


def job_state(job: Job) -> JobState:
    """A job as it is sent to pages and scripts."""
    links = _links(job)
    asked = list(dict.fromkeys(of_method.words for of_method in job.asked.values() if of_method.words))
    return JobState(
        id=job.id,
        model=job.model,
        revision=job.revision,
        state=job.state,
        stage=job.stage_words,
        done=job.done,
        total=job.total,
        left=job.left,
        message=job.message,
        hint=job.hint,
        fingerprint=job.fingerprint,
        created=job.created,
        finished=job.finished,
        link=links[0].address if links else "",
        links=links,
        methods=list(job.asked),
        asked=asked,
        remarks=list(job.remarks),
        phase=job.stage,
        part=job.part,
        parts=job.parts,
        doing=job.doing,
    )


def _links(job: Job) -> list[MapLink]:
    """A link to each map that a job computes, once its model is open; what only a card shows has none."""
    if not job.fingerprint:
        return []
    links = []
    state = ViewState(model=job.model, fingerprint=job.fingerprint[:8])
    for each in MAPS:
        asked = {name: job.asked[name] for name in each.methods() if name in job.asked}
        if each.own_view and asked:
            there = replace(state, view=each.name).with_part(each.state_of_job(asked))
            links.append(MapLink(title=each.title, address="/" + there.to_query()))
    return links
