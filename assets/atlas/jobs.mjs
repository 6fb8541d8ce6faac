// @ts-check
// Jobs: what the server tells of them, pushed over a WebSocket or asked for, and what people ask of them.
import { notify } from "./notes.mjs";
import { PARTS, dash, setStore } from "./page.mjs";
import { queryString } from "./query.mjs";
import { state } from "./state.mjs";

/**
 * @typedef {object} Job what the scripts use of one
 * @property {string} id
 * @property {string} model
 * @property {string} state
 * @property {string} stage
 * @property {string} phase
 * @property {number} done
 * @property {string} fingerprint
 */

/** @typedef {{loc: (string | number)[], msg: string, field?: string, words?: string}} Detail */
/** @typedef {{detail?: string | Detail[], message?: string, hint?: string, field?: string}} Refusal */
/** @typedef {{field: string, words: string}} Problem what is wrong, and with which field of the form */

const JOBS = "/api/jobs";
const AGAIN = 5000; // milliseconds before a closed socket is opened again; meanwhile the page asks

/**
 * @typedef {object} JobNews
 * @property {string} listed the jobs, as JSON, of which the page's list was last made
 * @property {number} count how often it was
 */

/** @type {{socket: WebSocket | null, last: string, progress: string | null, news: JobNews}} */
const line = { socket: null, last: "", progress: null, news: { listed: "", count: 0 } };

/** Have the jobs pushed, for as long as the page is open. */
export function listenToJobs() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  line.socket = new WebSocket(`${scheme}://${location.host}/live/jobs`);
  line.socket.onmessage = (event) => tellJobs(JSON.parse(event.data));
  line.socket.onclose = () => setTimeout(listenToJobs, AGAIN);
}

/** Ask for the jobs, unless they are pushed. */
export async function pollJobs() {
  if (line.socket && line.socket.readyState === WebSocket.OPEN) return;
  await fetchJobs();
}

async function fetchJobs() {
  const answer = await fetch(JOBS);
  if (answer.ok) tellJobs(await answer.json());
}

/**
 * Put the jobs into their store, when something has changed.
 * @param {Job[]} jobs
 */
function tellJobs(jobs) {
  const jobsText = JSON.stringify(jobs);
  if (jobsText === line.last) return;
  line.last = jobsText;
  setStore(PARTS.jobs, jobs);
}

/** Have the lists of models and relations made again: something of them was changed. */
export function listAgain() {
  line.news.listed = "";
  setStore(PARTS.finished, null);
  setStore(PARTS.jobs, JSON.parse(line.last || "[]"));
}

/**
 * How far the jobs of a model are; changes whenever its map may have more to show.
 * @param {Job[]} jobs
 * @param {string} fingerprint the first characters of it
 */
export function progressOf(jobs, fingerprint) {
  const mine = jobs.filter((job) => fingerprint && job.fingerprint.startsWith(fingerprint));
  return mine.map((job) => `${job.id} ${job.state} ${job.phase} ${job.done}`).join();
}

/**
 * Have the map on the screen drawn again when its jobs went on; a page that shows the list of jobs asks for it again.
 * @param {Job[] | null} jobs
 * @param {boolean} isHidden whether the page shows something else than that list
 */
export function jobsSent(jobs, isHidden) {
  if (!jobs) return dash().no_update;
  const fingerprint = state.heads ? state.heads.model.split("@").at(-1) : "";
  const before = line.progress;
  line.progress = progressOf(jobs, fingerprint || "");
  if (before !== null && line.progress !== before) setStore(PARTS.fresh, line.progress);
  const newer = isHidden ? null : newsOf(line.news, JSON.stringify(jobs));
  if (!newer) return dash().no_update;
  line.news = newer;
  return newer.count;
}

/**
 * What the server is asked for the list with, if the jobs are others than those that it was made of.
 * @param {JobNews} news
 * @param {string} jobsText
 * @returns {JobNews | null}
 */
export function newsOf(news, jobsText) {
  return jobsText === news.listed ? null : { listed: jobsText, count: news.count + 1 };
}

/**
 * Analyse something; gives the job, or what is wrong when the server refused.
 * @param {Record<string, unknown>} body
 * @returns {Promise<{job: Job | null, problems: Problem[]}>}
 */
export async function submitJob(body) {
  const { answer, reply } = await send("POST", JOBS, body);
  return answer.ok ? { job: reply, problems: [] } : { job: null, problems: problemsOf(reply, answer.status) };
}

/**
 * @param {string} id
 */
export function cancelJob(id) {
  return ask("DELETE", `${JOBS}/${id}`);
}

/**
 * Delete a job that is over; its results stay.
 * @param {string} id
 */
export function forgetJob(id) {
  return ask("DELETE", `${JOBS}/${id}${queryString({ forget: "true" })}`);
}

/**
 * @param {string} id
 */
export function retryJob(id) {
  return ask("POST", `${JOBS}/${id}/retry`);
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<Job | null>}
 */
export async function ask(method, path, body) {
  const { answer, reply } = await send(method, path, body);
  if (!answer.ok) notify(problemsOf(reply, answer.status).map(({ words }) => words).join("\n"));
  return answer.ok ? reply : null;
}

/**
 * Ask the server for something that changes jobs or results, and for the jobs after it.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 */
async function send(method, path, body) {
  const headers = { "Content-Type": "application/json" };
  const request = body ? { method, headers, body: JSON.stringify(body) } : { method };
  const answer = await fetch(path, request);
  const reply = await answer.json().catch(() => ({}));
  await fetchJobs();
  return { answer, reply };
}

/**
 * What is wrong with a request that the server refused, each with its field if it has one.
 * @param {Refusal} reply
 * @param {number} status
 * @returns {Problem[]}
 */
export function problemsOf(reply, status) {
  if (Array.isArray(reply.detail)) {
    const problems = reply.detail.map((each) => ({ field: each.field || "", words: each.words || each.msg }));
    return problems.filter(({ words }, at) => problems.findIndex((other) => other.words === words) === at);
  }
  return [{ field: reply.field || "", words: refusalText(reply) || `The server answered ${status}.` }];
}

/**
 * Why the server refused, in words; empty when it does not say.
 * @param {Refusal} reply
 */
export function refusalText({ detail, message, hint }) {
  if (Array.isArray(detail)) return detail.map(({ words, msg }) => words || msg).join("; ");
  return detail || [message, hint].filter(Boolean).join(". ");
}
